"""REST: what a selection holds, and its files."""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.archive.exports import package
from apps.archive.exports.selection import ExportSelection, read_selection
from apps.comparison.comparisons.sets import SetError
from apps.core.api import field_errors
from apps.core.rest import APIView
from apps.core.streams import send

_WHAT = [
    OpenApiParameter("set", str, many=True, description="A set, as of a comparison: campaign:12;streams=4."),
    OpenApiParameter("search", str, many=True, description="The query of a search of the archive."),
]
_AS = OpenApiParameter("as", str, enum=package.ENDINGS, description="The form of the tables; csv unless given.")


class ExportToolSerializer(serializers.Serializer):
    """The table of one tool."""

    tool = serializers.CharField()
    trials = serializers.IntegerField()


class ExportSerializer(serializers.Serializer):
    """What a selection holds."""

    campaigns = serializers.ListField(child=serializers.CharField(), help_text="Their permanent ids.")
    experiments = serializers.IntegerField()
    tools = ExportToolSerializer(many=True)


def _selected(request: Request) -> ExportSelection:
    try:
        return read_selection(request.query_params, rights.user_of(request))
    except SetError as error:
        raise field_errors({error.field: error.message}) from error


def _ending(request: Request) -> package.Ending:
    wish = serializers.ChoiceField(choices=package.ENDINGS)
    try:
        return wish.run_validation(request.query_params.get("as", "csv"))
    except serializers.ValidationError as error:
        raise serializers.ValidationError({"as": error.detail}) from error


class ExportView(APIView):
    """A selection of results."""

    @extend_schema(operation_id="exports_read", parameters=_WHAT, responses=ExportSerializer)
    def get(self, request: Request) -> Response:
        """Say what it holds."""
        selection = _selected(request)
        experiments = selection.experiments
        body: dict[str, Any] = {
            "campaigns": list(dict.fromkeys(item.campaign.permanent_id for item in experiments)),
            "experiments": len(experiments),
            "tools": [{"tool": slug, "trials": number} for slug, number in selection.counts().items()],
        }
        return Response(ExportSerializer(body).data)


class ExportPackageView(APIView):
    """A selection of results as a data package."""

    @extend_schema(
        operation_id="exports_package",
        parameters=[*_WHAT, _AS],
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Send a zip with a table for each tool and a description of all (Frictionless)."""
        selection, ending, now = _selected(request), _ending(request), timezone.now()
        address = request.build_absolute_uri("/")
        name = f"fathom-{ending}-{now:%Y%m%d}.zip"
        return send(
            request,
            lambda: package.package_of(selection, ending, now=now, address=address),
            name=name,
            kind="application/zip",
        )


class ExportTableView(APIView):
    """The results of one tool within a selection."""

    @extend_schema(
        operation_id="exports_table",
        parameters=[*_WHAT, _AS],
        responses={(200, kind): OpenApiTypes.BINARY for kind in package.TYPES.values()},
    )
    def get(self, request: Request, tool: str) -> HttpResponseBase:
        """Send one table, a row for each trial."""
        selection, ending = _selected(request), _ending(request)
        if tool not in selection.tools:
            raise serializers.ValidationError({"tool": [f"{tool}: {', '.join(selection.tools) or '–'}"]})
        name = f"{tool.replace('.', '-')}.{ending}"
        return send(request, lambda: package.table_of(selection, tool, ending), name=name, kind=package.TYPES[ending])
