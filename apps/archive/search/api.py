"""REST: the archive searched, what there is to narrow it by, searches under names, and what was measured already."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.archive.search import facets, forms, queries
from apps.archive.search.already import Already, already
from apps.archive.search.conditions import known_to
from apps.archive.search.models import SavedSearch
from apps.archive.search.queries import Hit
from apps.archive.search.state import FACETS, SORTS, Search, read_search
from apps.archive.search.unknown import unknown_values
from apps.campaigns import queries as campaigns
from apps.campaigns.api.told import ToldField
from apps.campaigns.expansion import expand_experiment
from apps.campaigns.turns import sweep_turn
from apps.core.api import field_errors
from apps.core.pagination import Pages
from apps.core.rest import APIView
from apps.results.saved_queries import KeptSerializer, KeptViewSet

_ABOUT = {
    "tool": "Slug of a tool.",
    "pair": "Two sites between which it was measured, in either direction, such as 3-7.",
    "team": "Short name of a team.",
    "person": "Name with which whoever made the campaign signs in.",
    "tag": "A tag of the campaign; of several every one.",
    "origin": "measured, published or another origin of campaigns.",
}
_PARAMETERS = [
    OpenApiParameter("q", str, description="Words, each of which may be the beginning of one."),
    *(
        OpenApiParameter(name, str, many=True, description=_ABOUT.get(name, "An id; of several any one."))
        for name in FACETS
    ),
    OpenApiParameter("since", OpenApiTypes.DATE, description="Measured on this day or later."),
    OpenApiParameter("until", OpenApiTypes.DATE, description="Measured on this day or earlier."),
    OpenApiParameter("param", str, many=True, description="A parameter and its range: streams:4..16, window:64KiB.."),
    OpenApiParameter("metric", str, many=True, description="A metric and its range, such as goodput:900 Mbit/s.."),
]


class FigureSerializer(serializers.Serializer):
    """A metric's valid figures in base units: how many, and the means of the points from `low` to `high`."""

    metric = serializers.CharField(source="metric.name")
    unit = serializers.CharField(source="metric.unit")
    n = serializers.IntegerField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    best = serializers.FloatField(allow_null=True, help_text="Null where neither direction is better.")
    flagged = serializers.IntegerField(help_text="How many of the figures have a flag that bears on the metric.")


class HitSerializer(serializers.Serializer):
    """An experiment that was found."""

    experiment = serializers.IntegerField(source="entry.pk")
    name = serializers.CharField(source="experiment.name")
    tool = serializers.CharField(source="experiment.tool")
    nodes = serializers.CharField(source="players")
    campaign = serializers.IntegerField(source="experiment.campaign.pk")
    campaign_name = serializers.CharField(source="experiment.campaign.name")
    permanent_id = serializers.CharField(source="experiment.campaign.permanent_id")
    team = serializers.CharField(source="experiment.campaign.team.slug")
    origin = serializers.CharField(source="experiment.campaign.origin")
    told_by_archive = ToldField("experiment.campaign.is_told")
    tags = serializers.ListField(child=serializers.CharField(), source="experiment.campaign.tags")
    factors = serializers.JSONField(source="experiment.factors")
    trials = serializers.IntegerField(source="entry.trials")
    first_at = serializers.DateTimeField(source="entry.first_at", allow_null=True)
    last_at = serializers.DateTimeField(source="entry.last_at", allow_null=True)
    figures = FigureSerializer(many=True)


class HitPageSerializer(serializers.Serializer):
    """A page of what was found."""

    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = HitSerializer(many=True)


class FacetValueSerializer(serializers.Serializer):
    """A value of a facet, as the address names it, and how many experiments have it."""

    value = serializers.CharField()
    label: Any = serializers.CharField()
    count = serializers.IntegerField()


class ArchiveFacetSerializer(serializers.Serializer):
    """A facet with its most frequent values, and how many others there are."""

    name = serializers.CharField()
    values = FacetValueSerializer(many=True, source="choices")
    rest = serializers.IntegerField()


class EarlierSerializer(serializers.Serializer):
    """An earlier experiment with points of the same settings: so many, their means (base unit) from low to high."""

    experiment = serializers.IntegerField(source="experiment.pk")
    name = serializers.CharField(source="experiment.name")
    campaign = serializers.IntegerField(source="experiment.campaign_id")
    told_by_archive = ToldField("experiment.campaign.is_told")
    points = serializers.IntegerField()
    n = serializers.IntegerField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    at = serializers.DateTimeField(allow_null=True)
    flagged = serializers.IntegerField(source="mark.flagged", default=0, help_text="How many figures have a flag.")
    flags = serializers.DictField(
        child=serializers.IntegerField(), source="mark.counts", default=dict, help_text="How many of them by flag."
    )


class AlreadySerializer(serializers.Serializer):
    """What of an experiment was measured already."""

    metric = serializers.CharField(source="metric.name")
    unit = serializers.CharField(source="metric.unit")
    points = serializers.IntegerField(help_text="Points looked for.")
    is_all = serializers.BooleanField(help_text="Whether these are all that the experiment has.")
    measured = serializers.IntegerField(help_text="Of these so many, with the same settings between the same nodes.")
    earlier = EarlierSerializer(many=True)
    same_nodes = serializers.BooleanField(help_text="Whether “alike” are between the same nodes, or only sites.")
    alike = HitSerializer(many=True)


class ArchiveSearch(APIView):
    """Experiments that were measured, or brought here, found by words, facets, values and figures."""

    @extend_schema(
        operation_id="archive_search",
        parameters=[
            *_PARAMETERS,
            OpenApiParameter("sort", str, enum=list(SORTS)),
            OpenApiParameter("page", int),
            OpenApiParameter("page_size", int),
        ],
        responses={200: HitPageSerializer},
    )
    def get(self, request: Request) -> Response:
        """Return a page of what is found."""
        search = _read(request)
        pages = Pages()
        entries = queries.with_details(queries.find(search, rights.user_of(request)))
        page: Any = pages.paginate_queryset(entries, request, view=self)
        hits: list[Hit] = queries.hits_of(page or [], search)
        return pages.get_paginated_response(HitSerializer(hits, many=True).data)


class ArchiveFacets(APIView):
    """What a search can be narrowed by."""

    @extend_schema(
        operation_id="archive_facets",
        parameters=_PARAMETERS,
        responses={200: ArchiveFacetSerializer(many=True)},
    )
    def get(self, request: Request) -> Response:
        """Return the facets, each counted as if nothing were chosen of it."""
        rows = facets.facets_of(_read(request), rights.user_of(request))
        return Response(ArchiveFacetSerializer(rows, many=True).data)


class AlreadyMeasured(APIView):
    """Whether what an experiment is about to measure has been measured before."""

    @extend_schema(operation_id="experiment_already", responses={200: AlreadySerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Return the earlier figures of the same points, and what is alike."""
        user = rights.user_of(request)
        experiment = get_object_or_404(campaigns.experiments_for(user), pk=pk)
        with sweep_turn(user):
            earlier: Already = already(expand_experiment(experiment, experiment.roles.all()), user)
        return Response(AlreadySerializer(earlier).data)


class SavedSearchSerializer(KeptSerializer):
    """A search kept under a name; `query` is what follows the “?” in the address of its page."""

    class Meta(KeptSerializer.Meta):
        model = SavedSearch

    def validate_query(self, value: str) -> str:
        """Return the query as it is stored."""
        return forms.checked_query(value, self.context["request"].user)


class SavedSearchViewSet(KeptViewSet):
    """Searches kept under names."""

    queryset = SavedSearch.objects.select_related("team", "created_by").order_by("name", "pk")
    serializer_class = SavedSearchSerializer


def _read(request: Request) -> Search:
    """Return the search of an address; a field that cannot be read is an error that names it."""
    user = rights.user_of(request)
    search, errors = read_search(request.query_params, known_to(user))
    if errors := errors or unknown_values(search, user):
        raise field_errors({name: messages[0] for name, messages in errors.items()})
    return search
