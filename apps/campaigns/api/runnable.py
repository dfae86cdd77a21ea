"""REST: a campaign's recipe, and a campaign made of one."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import TeamField, get_scoped_or_404, team_for_new
from apps.campaigns import permanent_ids, queries, runnable, services
from apps.campaigns.api.campaigns import CampaignSerializer
from apps.core.names import check_seen
from apps.core.rest import APIView


class RecipeTextSerializer(serializers.Serializer):
    """A recipe as YAML."""

    recipe = serializers.CharField()


def _names() -> Any:
    return serializers.DictField(child=serializers.CharField(max_length=200), required=False)


class RunAgainSerializer(serializers.Serializer):
    """A recipe and {name in it: name in the team's inventory} for what differs; `launch` starts it at once."""

    recipe = serializers.CharField(max_length=1_000_000, trim_whitespace=False)
    team = TeamField()
    name = serializers.CharField(
        required=False, allow_blank=True, max_length=200, default="", validators=[check_seen]
    )
    nodes = _names()
    clusters = _names()
    file_systems = _names()
    launch = serializers.BooleanField(default=True)


class CampaignRecipe(APIView):
    """A campaign as a recipe that measures the same again."""

    @extend_schema(operation_id="campaigns_recipe", responses=RecipeTextSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return the campaign as YAML that measures it again; 404 for one that one may not see."""
        campaign = get_scoped_or_404(queries.campaigns_for(rights.user_of(request)), pk=pk)
        return Response({"recipe": runnable.as_yaml(runnable.recipe_of(campaign))})


class RunRecipe(APIView):
    """Measure again what a recipe says."""

    @extend_schema(
        operation_id="campaigns_run_recipe", request=RunAgainSerializer, responses={201: CampaignSerializer}
    )
    def post(self, request: Request) -> Response:
        """Make a campaign of a recipe, on the nodes of that name or on those that stand in for them."""
        wish = RunAgainSerializer(data=request.data, context={"request": request})
        wish.is_valid(raise_exception=True)
        values = wish.validated_data
        recipe = runnable.read_recipe(values["recipe"])
        user = rights.user_of(request)
        permanent_id = permanent_ids.normalise(recipe.get("campaign", ""))
        campaign = services.run_again(
            recipe=recipe,
            team=team_for_new(request, values),
            user=user,
            now=timezone.now(),
            stand_ins=services.NodeStandIns(
                **{kind: values.get(kind, {}) for kind in ("nodes", "clusters", "file_systems")}
            ),
            original=queries.campaigns_for(user).filter(permanent_id=permanent_id).first(),
            name=values["name"],
            launch=values["launch"],
        )
        serializer = CampaignSerializer(campaign, context={"request": request})
        return Response(serializer.data, status=status.HTTP_201_CREATED)
