"""REST: the newest figures between sites."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.campaigns.api.told import ToldField
from apps.comparison.matrix import table
from apps.core.api import one_of
from apps.core.rest import APIView
from apps.results import queries


class MatrixSiteSerializer(serializers.Serializer):
    """A site."""

    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    team = serializers.CharField(
        source="foreign_team", default="", read_only=True, help_text="Name of its team if one is no member of that."
    )


class MatrixCellSerializer(serializers.Serializer):
    """The figure from one site to another, in the metric's unit: the best of the settings' newest sustained means."""

    # `from` is a word of the language: the fields are named where they are made.
    value = serializers.FloatField()
    samples = serializers.IntegerField(source="n")
    points = serializers.IntegerField()
    nodes = serializers.CharField(help_text="Between which nodes.")
    setting = serializers.CharField(help_text="At which values of what was varied, in words.")
    parameters = serializers.DictField(help_text="All parameters of the setting.")
    experiment = serializers.IntegerField()
    told_by_archive = ToldField("is_told")
    lane = serializers.IntegerField()
    point = serializers.IntegerField()
    measured_at = serializers.DateTimeField(source="at")
    flagged = serializers.IntegerField(source="mark.flagged", default=0, help_text="How many samples have a flag.")
    flags = serializers.DictField(
        child=serializers.IntegerField(), source="mark.counts", default=dict, help_text="How many of them by flag."
    )
    since = serializers.FloatField(
        allow_null=True, help_text="The best of what was measured a week later and more; null if nothing was."
    )
    is_doubted = serializers.BooleanField(help_text="Whether nothing measured since came near the figure.")
    passed = serializers.FloatField(
        source="passed.rate_bps",
        default=None,
        allow_null=True,
        help_text="Of a capacity: what more came through the same way, by whichever measurement of the team (bit/s).",
    )

    ceiling = serializers.FloatField(
        allow_null=True, help_text="What no figure exceeds, as the inventory describes the path; null if not known."
    )

    def get_fields(self) -> dict[str, Any]:
        """Return the fields, with the ids of both sites first."""
        ends = {
            "from": serializers.IntegerField(source="source", help_text="Id of a site."),
            "to": serializers.IntegerField(source="target", help_text="Id of a site."),
        }
        return ends | super().get_fields()


class MatrixSerializer(serializers.Serializer):
    """A tool's metric between sites; null where nothing was measured between two nodes yet."""

    tool = serializers.CharField(allow_null=True)
    tools = serializers.ListField(child=serializers.CharField())
    metric = serializers.CharField(allow_null=True)
    metrics = serializers.ListField(child=serializers.CharField())
    unit = serializers.CharField()
    sites = MatrixSiteSerializer(many=True)
    cells = MatrixCellSerializer(many=True)


class SiteMatrix(APIView):
    """The best sustained figure of a tool's metric between each pair of sites, either way, with its age."""

    @extend_schema(
        operation_id="matrix",
        parameters=[
            OpenApiParameter("tool", str, description="One of `tools`; the most used unless given."),
            OpenApiParameter("metric", str, description="One of `metrics`; the tool's primary one unless given."),
        ],
        responses=MatrixSerializer,
    )
    def get(self, request: Request) -> Response:
        """Return a cell for each pair of sites that has a figure; no cells where nothing was measured."""
        user = rights.user_of(request)
        tools = {tool.slug: tool for tool in table.tools_between(user)}
        tool = one_of(request.query_params, "tool", tools)
        metrics = {metric.name: metric for metric in queries.metrics_of(tool)} if tool else {}
        metric = one_of(request.query_params, "metric", metrics)
        matrix = table.matrix_of(user, tool, metric) if tool and metric else None
        body = {
            "tool": tool.slug if tool else None,
            "tools": list(tools),
            "metric": metric.name if metric else None,
            "metrics": list(metrics),
            "unit": metric.unit if metric else "",
            "sites": matrix.sites if matrix else [],
            "cells": [matrix.cells[pair] for pair in sorted(matrix.cells)] if matrix else [],
        }
        return Response(MatrixSerializer(body).data)
