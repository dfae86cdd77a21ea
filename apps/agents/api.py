"""REST: agents and enrolment tokens."""

from datetime import datetime
from typing import Any, cast

from django.db.models import QuerySet
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import rights
from apps.accounts.api import ScopedToken
from apps.accounts.filters import RowFilter
from apps.accounts.models import Role
from apps.agents import commands, queries, services, troubles
from apps.agents.identity_api import ChoiceSerializer, InstanceSerializer, TroubleSerializer
from apps.agents.jobs_api import RemovalSerializer, nodes_of
from apps.agents.models import Agent, AgentState, Listener
from apps.core import rest
from apps.testbeds.models import Node


class AgentSerializer(serializers.ModelSerializer):
    """The agent of a node."""

    state = serializers.SerializerMethodField()
    node_name = serializers.CharField(source="node.name", read_only=True)
    is_outdated = serializers.BooleanField(read_only=True)
    instance = InstanceSerializer(read_only=True, allow_null=True)
    troubles = serializers.SerializerMethodField()

    class Meta:
        model = Agent
        fields = [
            "id", "node", "node_name", "state", "version", "is_outdated", "last_seen_at", "retired_at",
            "clock_offset_s", "clock_error_s", "instance", "set_aside_at", "troubles",
            "unsent_since", "created_at",
        ]  # fmt: skip

    @extend_schema_field(TroubleSerializer(many=True))
    def get_troubles(self, agent: Agent) -> list[dict[str, Any]]:
        """Return what the agent says is wrong on its node."""
        return list(TroubleSerializer(troubles.read(agent.troubles), many=True).data)

    @extend_schema_field(serializers.ChoiceField(AgentState.choices))
    def get_state(self, agent: Any) -> str:
        """Return the state at this moment, of an agent annotated with `busy`."""
        # Of all agents of an answer alike.
        context = cast("dict[str, Any]", self.context)
        if "lost_before" not in context:
            context["lost_before"] = Listener.lost_before(timezone.now())
        return agent.state(lost_before=context["lost_before"], busy=agent.busy).value


class AgentDetailSerializer(AgentSerializer):
    """The agent of a node, with what it last said of the node."""

    facts = serializers.SerializerMethodField()
    rivals = serializers.SerializerMethodField()
    may_run_until = serializers.SerializerMethodField()
    removals = RemovalSerializer(source="node.removals", many=True, read_only=True)

    class Meta(AgentSerializer.Meta):
        fields = [*AgentSerializer.Meta.fields, "rivals", "may_run_until", "removals", "facts"]

    @extend_schema_field(InstanceSerializer(many=True))
    def get_rivals(self, agent: Agent) -> list[dict[str, Any]]:
        """Return the processes that claim to be this agent, too, and are refused now."""
        rivals = queries.rivals_of([agent.node_id], timezone.now()).get(agent.node_id, [])
        return list(InstanceSerializer(rivals, many=True).data)

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_may_run_until(self, agent: Agent) -> datetime | None:
        """Return until when programs of lost jobs may still run there: what they use is kept back so long."""
        job = queries.leftover_jobs(agent.node_id, timezone.now()).first()
        return job.may_run_until if job else None

    def get_facts(self, agent: Agent) -> dict[str, Any] | None:
        """Return what the agent last said of its node."""
        return agent.facts.facts if agent.facts else None


class AgentFilter(filters.FilterSet):
    """Filters of agents, by node and by state."""

    node = RowFilter(nodes_of)
    state = filters.ChoiceFilter(choices=AgentState.choices, method="filter_state")

    class Meta:
        model = Agent
        fields = ["node"]

    def filter_state(self, agents: QuerySet[Agent], name: str, value: str) -> QuerySet[Agent]:
        """Return the agents in a state at this moment: it is reckoned from when they were heard last."""
        return queries.in_state(agents, AgentState(value), timezone.now())


class AgentViewSet(mixins.DestroyModelMixin, rest.ReadOnlyModelViewSet):
    """Agents of the person's teams; a manager can retire one, and remove one that is retired."""

    queryset = Agent.objects.none()
    serializer_class = AgentSerializer
    permission_classes = [IsAuthenticated, ScopedToken]
    filterset_class = AgentFilter
    search_fields = ["node__name"]
    ordering_fields = ["id", "last_seen_at"]
    # What its agent reports, poll by poll.
    passing_fields = frozenset(
        {"state", "version", "last_seen_at", "clock_offset_s", "clock_error_s", "troubles", "instance", "facts"}
    )

    def get_queryset(self) -> QuerySet[Agent]:
        """Return the agents of the person's teams."""
        agents = queries.agents_with_state(rights.user_of(self.request)).select_related("instance").order_by("id")
        return agents if self.action == "list" else agents.select_related("facts")

    def get_serializer_class(self) -> type[AgentSerializer]:
        """Return the serializer: with facts for one agent, without for many."""
        return AgentSerializer if self.action == "list" else AgentDetailSerializer

    @extend_schema(responses={204: None, 409: OpenApiResponse(description="The agent is not retired.")})
    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Remove a retired agent, so that its node can be deleted; facts and jobs are kept."""
        agent = self.get_object()
        rights.require(rights.user_of(request), agent.node.team, Role.MANAGER)
        services.forget_agent(agent=agent)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=None, responses=AgentDetailSerializer)
    @action(detail=True, methods=["post"])
    def retire(self, request: Request, pk: str) -> Response:
        """End the agent's right to take jobs."""
        agent = self.get_object()
        rights.require(request.user, agent.node.team, Role.MANAGER)
        services.retire_agent(agent=agent, now=timezone.now())
        return Response(self.get_serializer(self.get_queryset().get(pk=agent.pk)).data)

    @extend_schema(request=ChoiceSerializer, responses=AgentDetailSerializer)
    @action(detail=True, methods=["post"])
    def choose(self, request: Request, pk: str) -> Response:
        """Say which process is the right one, of those in `rivals`; the other one's jobs are lost."""
        agent = self.get_object()
        rights.require(request.user, agent.node.team, Role.MANAGER)
        wish = ChoiceSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        services.choose_instance(agent=agent, key=wish.validated_data["instance"], now=timezone.now())
        return Response(self.get_serializer(self.get_queryset().get(pk=agent.pk)).data)

    @extend_schema(request=None, responses=AgentDetailSerializer)
    @action(detail=True, methods=["post"])
    def clear(self, request: Request, pk: str) -> Response:
        """Say that nothing of lost jobs runs on the node any more: what they used is given away again."""
        agent = self.get_object()
        rights.require(request.user, agent.node.team, Role.MANAGER)
        services.presume_ended(node_id=agent.node_id, now=timezone.now())
        return Response(self.get_serializer(self.get_queryset().get(pk=agent.pk)).data)

    @extend_schema(request=None, responses=AgentDetailSerializer)
    @action(detail=True, methods=["post"])
    def removed(self, request: Request, pk: str) -> Response:
        """Say that the files of ended runs on the node, those in `removals`, were removed by hand."""
        agent = self.get_object()
        rights.require(request.user, agent.node.team, Role.MANAGER)
        services.forget_removals(node_id=agent.node_id)
        return Response(self.get_serializer(self.get_queryset().get(pk=agent.pk)).data)


class EnrolmentSerializer(serializers.Serializer):
    """Which node the agent is for."""

    node = serializers.IntegerField()


class IssuedSerializer(serializers.Serializer):
    """A one-time token, shown once, and the commands that use it."""

    token = serializers.CharField()
    expires_at = serializers.DateTimeField()
    curl = serializers.CharField()
    python = serializers.CharField()


class EnrolmentTokens(rest.APIView):
    """One-time tokens that enrol an agent on a node."""

    permission_classes = [IsAuthenticated, ScopedToken]

    @extend_schema(
        operation_id="enrolment_tokens_create", request=EnrolmentSerializer, responses={201: IssuedSerializer}
    )
    def post(self, request: Request) -> Response:
        """Make a token for a node; needs a manager of the node's team."""
        wish = EnrolmentSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        nodes = rights.visible(Node.objects.select_related("team"), request.user)
        node = nodes.filter(pk=wish.validated_data["node"]).first()
        if node is None:
            raise serializers.ValidationError({"node": ["There is no such node in your teams."]})
        rights.require(request.user, node.team, Role.MANAGER)
        issued = services.issue_enrolment_token(node=node, user=rights.user_of(request), now=timezone.now())
        lines = commands.of(commands.server_address(request), issued.text, node)
        body = {
            "token": issued.text,
            "expires_at": issued.token.expires_at,
            "curl": lines.curl,
            "python": lines.python,
        }
        return Response(IssuedSerializer(body).data, status=status.HTTP_201_CREATED)
