"""REST: the rate of a setting that an experiment did not measure."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api import get_scoped_or_404
from apps.campaigns.api.told import ToldField
from apps.campaigns.models import Experiment
from apps.campaigns.queries.visibility import visible
from apps.core.api import field_errors, one_of
from apps.core.contract import no_such
from apps.core.fields import TranslatedField
from apps.core.rest import APIView
from apps.toolbox import queries as toolbox
from apps.tuning.prediction import queries
from apps.tuning.prediction.queries import PredictionAnswer


class MeasuredRangeSerializer(serializers.Serializer):
    """What was measured of one factor, in its unit."""

    label: Any = TranslatedField()
    least = serializers.FloatField()
    most = serializers.FloatField()
    unit = serializers.CharField()


class PredictionSerializer(serializers.Serializer):
    """A predicted rate with its interval (95 % or more) in `unit`; `error` is the typical miss, as a share."""

    metric = serializers.CharField()
    unit = serializers.CharField()
    lane = serializers.IntegerField()
    setting = serializers.DictField(child=serializers.CharField())
    told_by_archive = ToldField()
    value = serializers.FloatField(source="answer.prediction.value")
    low = serializers.FloatField(source="answer.prediction.low")
    high = serializers.FloatField(source="answer.prediction.high")
    formula = serializers.CharField(source="answer.prediction.formula")
    limit = TranslatedField(source="answer.limit")
    error = serializers.FloatField(source="answer.error")
    beyond = serializers.ListField(
        child=TranslatedField(), source="answer.beyond", help_text="Factors beyond what was measured."
    )
    measured = serializers.FloatField(
        source="answer.measured", allow_null=True, help_text="The mean at this very setting, if it was measured."
    )
    ranges = serializers.SerializerMethodField()
    trials = serializers.ListField(child=serializers.IntegerField(), source="answer.trials")
    flagged = serializers.IntegerField(
        source="answer.mark.flagged", default=0, help_text="How many of these trials' figures have a flag."
    )
    flags = serializers.DictField(
        child=serializers.IntegerField(), source="answer.mark.counts", default=dict, help_text="How many by flag."
    )

    @extend_schema_field(MeasuredRangeSerializer(many=True))
    def get_ranges(self, body: dict[str, Any]) -> Any:
        """Return what was measured of each factor."""
        answer: PredictionAnswer = body["answer"]
        rows = [
            {"label": label, "least": minimum, "most": maximum, "unit": unit}
            for label, (minimum, maximum, unit) in answer.ranges.items()
        ]
        return MeasuredRangeSerializer(rows, many=True).data


class PredictSetting(APIView):
    """The rate of a setting that was not measured, from a model calibrated on an experiment's own results."""

    @extend_schema(
        operation_id="experiments_prediction",
        parameters=[
            OpenApiParameter("lane", int, description="Which of its sets of nodes; the first unless given."),
            OpenApiParameter("metric", str, description="Name of a metric that is a rate; the first unless given."),
            OpenApiParameter(
                "setting",
                OpenApiTypes.OBJECT,
                style="form",
                explode=True,
                required=True,
                description="A value for each factor of the experiment, such as window=192 KiB.",
            ),
        ],
        responses=PredictionSerializer,
    )
    def get(self, request: Request, pk: int) -> Response:
        """Return the prediction; 400 says what cannot be predicted, and why."""
        in_sight = visible(Experiment.objects.all(), request.user, path="campaign")
        experiment = get_scoped_or_404(in_sight.select_related("campaign__team"), pk=pk)
        question = _asked(request, experiment)
        try:
            answer = queries.predict(question)
        except queries.UnansweredQuestion as error:
            raise field_errors({error.field: error.message}) from error
        body = {
            "metric": question.metric.name,
            "unit": question.metric.unit,
            "lane": question.lane.pk,
            "setting": question.texts,
            "answer": answer,
            "told_by_archive": experiment.campaign.is_told,
        }
        return Response(PredictionSerializer(body).data)


def _asked(request: Request, experiment: Experiment) -> queries.PredictionQuestion:
    """Return the question; a ValidationError names what is missing or not known."""
    tool = toolbox.get_tool(experiment.tool)
    factors = queries.factors_of(experiment, tool)
    if not factors:
        text = _("One setting was measured: vary a factor to learn how the rate goes with it.")
        raise serializers.ValidationError(text)
    names = ("lane", "metric", *(factor.name for factor in factors))
    text = _("This is no factor of the experiment.")
    unknown = {name: [no_such(name, names, text)] for name in request.query_params if name not in names}
    if unknown:
        raise serializers.ValidationError(unknown)
    texts = {factor.name: str(request.query_params.get(factor.name, "")) for factor in factors}
    lacking = {name: [_("Give its value.")] for name, text in texts.items() if not text or "\0" in text}
    if lacking:
        raise serializers.ValidationError(lacking)
    lanes = {str(lane.pk): lane for lane in experiment.lanes.all()}
    metrics = {metric.name: metric for metric in queries.metrics_of(tool)}
    lane, metric = one_of(request.query_params, "lane", lanes), one_of(request.query_params, "metric", metrics)
    if lane is None or metric is None:
        raise serializers.ValidationError(_("Only rates of experiments that were launched can be predicted."))
    return queries.PredictionQuestion(
        experiment=experiment,
        tool=tool,
        lane=lane,
        metric=metric,
        factors=factors,
        texts=texts,
    )
