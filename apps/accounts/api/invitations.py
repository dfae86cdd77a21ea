"""REST: a team's invitations, for its managers, and one's own."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import invitations, queries, rights
from apps.accounts.api.teams import MembershipSerializer
from apps.accounts.models import Invitation, Role, Team
from apps.accounts.rights import user_of
from apps.core import rest


class InvitationSerializer(serializers.ModelSerializer):
    """An invitation; `invited_by` is null if that account is gone."""

    invited_by: serializers.SlugRelatedField = serializers.SlugRelatedField(
        slug_field="username", read_only=True, allow_null=True
    )
    expires_at = serializers.SerializerMethodField()

    class Meta:
        model = Invitation
        fields = ["id", "role", "invited_by", "created_at", "expires_at"]
        read_only_fields = ["created_at"]

    def get_expires_at(self, invitation: Invitation) -> datetime:
        """Return until when it may be accepted."""
        return invitation.created_at + Invitation.LASTS


class TeamInvitationSerializer(InvitationSerializer):
    """An invitation as its team sees it: whether there is an account of the name is told to nobody."""

    class Meta(InvitationSerializer.Meta):
        fields = ["id", "username", *InvitationSerializer.Meta.fields[1:]]


class OwnInvitationSerializer(InvitationSerializer):
    """An invitation as the invited person sees it."""

    team = serializers.SlugField(source="team.slug", read_only=True, help_text="The team's short name.")
    team_name = serializers.CharField(source="team.name", read_only=True)

    class Meta(InvitationSerializer.Meta):
        fields = ["id", "team", "team_name", *InvitationSerializer.Meta.fields[1:]]
        read_only_fields = ["role", "created_at"]


class TeamInvitationViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.CreateModelMixin,
    mixins.DestroyModelMixin,
    rest.GenericViewSet,
):
    """Whom a team has invited. Its managers invite, by username, and withdraw; who is invited joins by accepting."""

    queryset = Invitation.objects.none()
    serializer_class = TeamInvitationSerializer
    filterset_fields = ["role"]
    search_fields = ["username"]
    ordering_fields = ["id", "username", "created_at"]

    def get_queryset(self) -> QuerySet[Invitation]:
        """Return what the team has open."""
        return queries.invitations_of(self._team(), timezone.now())

    def perform_create(self, serializer: Any) -> None:
        """Invite; the answer is the same whether or not there is such an account."""
        values = serializer.validated_data
        serializer.instance = invitations.invite(
            team=self._team(),
            user=user_of(self.request),
            username=values["username"],
            role=Role(values.get("role", Role.VIEWER)),
            now=timezone.now(),
        )

    def perform_destroy(self, instance: Invitation) -> None:
        """Withdraw it."""
        invitations.withdraw(invitation=instance, user=user_of(self.request), now=timezone.now())

    def _team(self) -> Team:
        team = get_object_or_404(queries.teams_of(user_of(self.request)), slug=self.kwargs["slug"])
        rights.require(self.request.user, team, Role.MANAGER)
        return team


class OwnInvitationViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, rest.GenericViewSet):
    """The teams that invite the person who asks: accept, or decline."""

    queryset = Invitation.objects.none()
    serializer_class = OwnInvitationSerializer
    filterset_fields = ["role"]
    search_fields = ["team__name", "team__slug"]
    ordering_fields = ["id", "created_at"]

    def get_queryset(self) -> QuerySet[Invitation]:
        """Return the invitations of who asks."""
        return queries.invitations_to(user_of(self.request).username, timezone.now())

    @extend_schema(request=None, responses={status.HTTP_201_CREATED: MembershipSerializer})
    @action(detail=True, methods=["post"])
    def accept(self, request: Request, pk: str) -> Response:
        """Join the team; the answer is the membership. New work goes where it went before."""
        now, user = timezone.now(), user_of(request)
        membership = invitations.accept(invitation=self.get_object(), user=user, now=now)
        answer = MembershipSerializer(membership, context=self.get_serializer_context()).data
        return Response(answer, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses={status.HTTP_204_NO_CONTENT: None})
    @action(detail=True, methods=["post"])
    def decline(self, request: Request, pk: str) -> Response:
        """Refuse it. The team is not told, and no other invitation of it is shown for seven days."""
        invitations.decline(invitation=self.get_object(), user=user_of(request), now=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)
