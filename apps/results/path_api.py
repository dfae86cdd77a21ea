"""REST: what an experiment's results say of the path: loss against offered load, and the routes seen."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.api import get_scoped_or_404
from apps.campaigns.models import Experiment
from apps.campaigns.queries.visibility import visible
from apps.core.rest import APIView
from apps.results import loss, routes
from apps.toolbox import queries as toolbox


class LossPointSerializer(serializers.Serializer):
    """One offered load: rates in bit/s, losses as shares, jitter in s; `excess` is loss over fluid_loss.

    `is_held` says that a judge saw its ends drop datagrams, or send too slowly: its loss tells nothing of the path.
    `losses` are those of its runs, whose mean `loss` is.
    """

    offered = serializers.FloatField()
    loss = serializers.FloatField()
    jitter = serializers.FloatField(allow_null=True)
    goodput = serializers.FloatField(allow_null=True)
    fluid_loss = serializers.FloatField(allow_null=True)
    excess = serializers.FloatField(allow_null=True)
    is_held = serializers.BooleanField()
    losses = serializers.ListField(child=serializers.FloatField())


class LossCurveSerializer(serializers.Serializer):
    """Loss against offered load for one combination of the other factors; rates in bit/s, null where not known.

    `capacity` is what arrives whatever is offered, null unless that was seen; `whole` the highest load with a loss
    under the threshold, `lossy` the least with more, `held` the least whose ends were seen to drop.
    """

    factors = serializers.CharField()
    points = LossPointSerializer(many=True)
    threshold = serializers.FloatField()
    capacity = serializers.FloatField(allow_null=True)
    whole = serializers.FloatField(allow_null=True)
    held = serializers.FloatField(allow_null=True)
    lossy = serializers.FloatField(allow_null=True)
    knee = serializers.FloatField(allow_null=True)
    plateau = serializers.FloatField(allow_null=True)
    full = serializers.FloatField(allow_null=True)
    exponent = serializers.FloatField(allow_null=True)
    passed = serializers.FloatField(
        allow_null=True,
        help_text="What more came through the same way, by whichever measurement of the team (bit/s).",
    )
    conclusions = serializers.ListField(child=serializers.CharField())


class WaySerializer(serializers.Serializer):
    """One route: the addresses of each hop, those that share its traffic joined by "/", "*" where none answered."""

    hops = serializers.ListField(child=serializers.CharField())
    trials = serializers.ListField(child=serializers.IntegerField())
    first_seen = serializers.DateTimeField()
    last_seen = serializers.DateTimeField()


class RouteChangeSerializer(serializers.Serializer):
    """A trial that took another way than the one before it."""

    trial = serializers.IntegerField()
    change = serializers.CharField()


class RouteHistorySerializer(serializers.Serializer):
    """The routes between the nodes of one lane."""

    nodes = serializers.CharField()
    ways = WaySerializer(many=True)
    changes = RouteChangeSerializer(many=True)


def _experiment(request: Request, pk: int) -> Experiment:
    experiments = visible(Experiment.objects.select_related("campaign"), request.user, path="campaign")
    return get_scoped_or_404(experiments, pk=pk)


class ExperimentLoss(APIView):
    """Loss against offered load, its knee and what explains it; empty unless the experiment sweeps a rate of UDP."""

    @extend_schema(operation_id="experiments_loss", responses=LossCurveSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        """Return one curve for each combination of the other factors."""
        experiment = _experiment(request, pk)
        curves = [
            {
                **sweep.curve.as_json(),
                "factors": sweep.label,
                "passed": sweep.passed.rate_bps if sweep.passed else None,
                "conclusions": sweep.conclusions,
            }
            for sweep in loss.sweeps_of(experiment, toolbox.get_tool(experiment.tool))
        ]
        return Response(LossCurveSerializer(curves, many=True).data)


class ExperimentRoutes(APIView):
    """The routes that an experiment's runs saw, and where they changed."""

    @extend_schema(operation_id="experiments_routes", responses=RouteHistorySerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        """Return one history for each set of nodes."""
        histories = [
            {
                "nodes": history.nodes,
                "ways": history.ways,
                "changes": [{"trial": trial, "change": change} for trial, change in history.changes],
            }
            for history in routes.histories_of(_experiment(request, pk))
        ]
        return Response(RouteHistorySerializer(histories, many=True).data)
