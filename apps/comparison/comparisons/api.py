"""REST: comparisons of any sets of results, and views kept under a name."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.bench.text import Message, _
from apps.campaigns.api.told import ToldField
from apps.comparison.comparisons import forms
from apps.comparison.comparisons.choice import choose
from apps.comparison.comparisons.comparison import compare
from apps.comparison.comparisons.gathering import gather
from apps.comparison.comparisons.presentation import downloads
from apps.comparison.comparisons.state import CHARTS, read_state
from apps.comparison.models import SavedView
from apps.core import garbage
from apps.core.api import field_errors
from apps.core.rest import APIView
from apps.results import intervals
from apps.results.saved_queries import KeptSerializer, KeptViewSet

_SETS = (
    "A set, such as campaign:12;since:2026-11-01;streams=4: all parts must hold. It may name campaign, experiment, "
    "cluster, node, site, file-system (by id), tool, since, until (dates), label, and values of parameters."
)


class ComparedSetSerializer(serializers.Serializer):
    """One of the sets: its text, what it is called, and how many figures it has."""

    text = serializers.CharField()
    title = serializers.CharField()
    samples = serializers.IntegerField()
    told_by_archive = ToldField(
        help_text="Whether only an archive says of any of its figures that they were measured: nobody here saw it."
    )


class VaryingFactorSerializer(serializers.Serializer):
    """A factor that varies over the sets; values as addresses write them."""

    name = serializers.CharField()
    unit = serializers.CharField()
    values = serializers.ListField(child=serializers.CharField())


class RemarkSerializer(serializers.Serializer):
    """What speaks against the comparison: a refusal, a caution, or only a note."""

    level = serializers.ChoiceField(choices=["refusal", "caution", "note"])
    text = serializers.CharField()


class DeviationSerializer(serializers.Serializer):
    """Something recorded that is not the same in all sets, or that changed within the only one: the values of each,
    none where it is not known.
    """

    topic = serializers.CharField()
    name = serializers.CharField()
    values = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))


class OverallSerializer(serializers.Serializer):
    """A set against the baseline over all settings that both have: each by itself, else all together."""

    set = serializers.CharField()
    verdict = serializers.ChoiceField(
        choices=["higher", "lower", "mixed", "no-difference", "too-few"],
        help_text="Of all settings where single ones tell one (mixed: at some so), else of all together.",
    )
    p = serializers.FloatField(help_text="Of all together, by van Elteren's test.")
    superiority = serializers.FloatField(help_text="Chance that a figure lies above one of the baseline.")
    settings = serializers.IntegerField()
    higher = serializers.IntegerField(help_text="At how many settings it is higher (Holm).")
    lower = serializers.IntegerField(help_text="At how many settings it is lower (Holm).")


class ShareSerializer(serializers.Serializer):
    """The share of the variance that a factor, or a pair of them, explains; p corrected for the number of tests."""

    factors = serializers.ListField(child=serializers.CharField())
    share = serializers.FloatField(
        allow_null=True, help_text="Null where what was measured does not tell it from the others."
    )
    p = serializers.FloatField(allow_null=True)


class SetImportanceSerializer(serializers.Serializer):
    """What the factors of one set explain."""

    set = serializers.CharField()
    shares = ShareSerializer(many=True)
    shared = serializers.FloatField(help_text="What they explain together, and none of them alone.")
    rest = serializers.FloatField()
    noise = serializers.FloatField()
    is_balanced = serializers.BooleanField(
        help_text="Whether every combination was measured equally often; else each share is beyond all others."
    )


class PlaceSerializer(serializers.Serializer):
    """The figures of one set at one value of the axis and the series, in base units."""

    set = serializers.CharField()
    x = serializers.JSONField()
    x_text = serializers.CharField()
    series = serializers.JSONField(allow_null=True)
    series_text = serializers.CharField()
    others = serializers.DictField(help_text="What else tells the place apart, by its factor.")
    n = serializers.IntegerField()
    settings = serializers.IntegerField(help_text="How many of what is averaged over are put together here.")
    value = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    is_cut = serializers.BooleanField(help_text="Whether it ends where no figure can lie.")
    confidence = serializers.FloatField(allow_null=True, help_text="What the interval has, 0 to 1; null: not known.")
    method = serializers.ChoiceField(choices=intervals.METHODS)
    assumes = serializers.ChoiceField(
        choices=intervals.ASSUMPTIONS, help_text="What the interval supposes of the figures, “” for nothing."
    )
    unit = serializers.CharField()
    is_baseline = serializers.BooleanField()
    ratio = serializers.FloatField(allow_null=True)
    ratio_low = serializers.FloatField(allow_null=True)
    ratio_high = serializers.FloatField(allow_null=True)
    ratio_confidence = serializers.FloatField(allow_null=True, help_text="What the ratio's interval has, 0 to 1.")
    ratio_method = serializers.ChoiceField(choices=intervals.METHODS)
    shift = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True, help_text="Corrected for all places compared (Holm).")
    superiority = serializers.FloatField(allow_null=True)
    effect = serializers.CharField()
    verdict = serializers.ChoiceField(choices=["", "higher", "lower", "no-difference", "too-few"])
    outliers = serializers.ListField(child=serializers.IntegerField(), help_text="Trials.")
    modes = serializers.ListField(child=serializers.FloatField())
    flagged = serializers.IntegerField(help_text="How many of the figures have a flag that bears on the metric.")
    flags = serializers.DictField(child=serializers.IntegerField(), help_text="How many of them by flag.")
    trials = serializers.ListField(child=serializers.IntegerField())


class ComparisonSerializer(serializers.Serializer):
    """Sets of results side by side."""

    query = serializers.CharField(help_text="What follows the “?” in the address of its page.")
    sets = ComparedSetSerializer(many=True)
    metric = serializers.CharField(allow_null=True)
    unit = serializers.CharField()
    metrics = serializers.ListField(child=serializers.CharField())
    statistic = serializers.CharField()
    axis = serializers.CharField()
    series = serializers.CharField(allow_null=True)
    factors = VaryingFactorSerializer(many=True)
    fixed = serializers.DictField(child=serializers.CharField())
    apart = serializers.ListField(child=serializers.CharField(), help_text="Factors that rows are told apart by.")
    averaged = serializers.ListField(child=serializers.CharField(), help_text="Factors that figures are means over.")
    baseline = serializers.CharField()
    is_comparable = serializers.BooleanField()
    remarks = RemarkSerializer(many=True)
    differences = DeviationSerializer(many=True)
    recorded = serializers.ListField(
        child=serializers.CharField(), help_text="Of what something is known of every set, so that it is compared."
    )
    unrecorded = serializers.ListField(
        child=serializers.CharField(), help_text="Of what nothing is known of some set, so that it may differ."
    )
    overall = OverallSerializer(many=True)
    importance = SetImportanceSerializer(many=True)
    left_out = serializers.IntegerField(help_text="Figures that a flag makes invalid.")
    reasons = serializers.DictField(child=serializers.IntegerField())
    rows = PlaceSerializer(many=True)


class CompareResults(APIView):
    """Any sets of results side by side: figures, ratios, significance, what differs, and which factors matter."""

    @extend_schema(
        operation_id="compare_results",
        parameters=[
            OpenApiParameter("set", str, many=True, required=True, description=_SETS),
            OpenApiParameter("metric", str, description="Name of a metric; the usual one unless given."),
            OpenApiParameter("x", str, description="Factor of the axis; “set” puts the sets themselves on it."),
            OpenApiParameter("by", str, description="Factor of the series."),
            OpenApiParameter("fix", str, many=True, description="A factor and its value, such as streams:4."),
            OpenApiParameter("stat", str, enum=["mean", "median"]),
            OpenApiParameter("base", str, description="The baseline: set:0, x:65536 or by:4."),
            OpenApiParameter("invalid", str, enum=["yes"], description="Count invalid samples, too."),
            OpenApiParameter("chart", str, enum=list(CHARTS), description="Only kept in “query”."),
        ],
        responses={200: ComparisonSerializer},
    )
    @garbage.seldom()
    def get(self, request: Request) -> Response:
        """Return the comparison."""
        state, errors = read_state(request.query_params)
        if not state.sets and not errors:
            errors = {"set": [Message(_("Choose a set first."))]}
        if errors:
            raise field_errors({name: texts[0] for name, texts in errors.items()})
        comparison = compare(gather(choose(state, rights.user_of(request))))
        if comparison.missing:
            raise field_errors({name: texts[0] for name, texts in comparison.missing.items()})
        return Response(downloads.as_json(comparison))


class SavedViewSerializer(KeptSerializer):
    """A comparison kept under a name; `query` is what follows the “?” in the address of its page."""

    class Meta(KeptSerializer.Meta):
        model = SavedView

    def validate_query(self, value: str) -> str:
        """Return the query as it is stored."""
        return forms.checked_query(value)


class SavedViewViewSet(KeptViewSet):
    """Comparisons kept under names."""

    queryset = SavedView.objects.select_related("team", "created_by").order_by("name", "pk")
    serializer_class = SavedViewSerializer
