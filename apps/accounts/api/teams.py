"""REST: teams and memberships."""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django_filters import rest_framework as filters
from rest_framework import mixins, serializers
from rest_framework.request import Request

from apps.accounts import queries, services
from apps.accounts.api.base import TeamField, TeamScopedViewSet, refuse_other_team
from apps.accounts.filters import team_filter
from apps.accounts.models import Membership, Role, Team
from apps.accounts.rights import user_of
from apps.core import rest


class TeamSerializer(serializers.ModelSerializer):
    """A team, with one's own role in it."""

    slug = serializers.SlugField(
        max_length=50, required=False, help_text="Made from the name unless given; it stays."
    )
    role = serializers.ChoiceField(source="own_role", choices=Role.choices, read_only=True, allow_null=True)
    members = serializers.IntegerField(source="member_count", read_only=True)

    class Meta:
        model = Team
        fields = ["id", "slug", "name", "role", "members", "created_at", "updated_at"]


class TeamViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.CreateModelMixin,
    mixins.UpdateModelMixin,
    rest.GenericViewSet,
):
    """One's teams. Who makes a team is its manager; only a manager renames it."""

    queryset = Team.objects.none()
    serializer_class = TeamSerializer
    lookup_field = "slug"
    http_method_names = ["get", "post", "patch", "head", "options"]
    filterset_fields = ["name"]
    search_fields = ["name", "slug"]
    ordering_fields = ["id", "name", "created_at"]

    def get_queryset(self) -> QuerySet[Team]:
        """Return the teams of who asks."""
        return queries.teams_of(user_of(self.request))

    def perform_create(self, serializer: Any) -> None:
        """Make the team with the person who asks as its manager; 400 for a name that is wrong or taken."""
        team = services.create_team(user=user_of(self.request), **serializer.validated_data)
        serializer.instance = self.get_queryset().get(pk=team.pk)

    def perform_update(self, serializer: Any) -> None:
        """Rename the team; its short name stays."""
        team = serializer.instance
        if serializer.validated_data.get("slug", team.slug) != team.slug:
            raise serializers.ValidationError({"slug": [_("The short name stays, so that addresses keep working.")]})
        services.update_team(team=team, user=user_of(self.request), name=serializer.validated_data.get("name"))


class MembershipSerializer(serializers.ModelSerializer):
    """A person's role in a team."""

    team = TeamField()
    username = serializers.CharField(source="user.username", max_length=150)

    class Meta:
        model = Membership
        fields = ["id", "team", "username", "role", "created_at", "updated_at"]


class MembershipFilter(filters.FilterSet):
    """By team, username and role."""

    team = team_filter()
    username = filters.CharFilter(field_name="user__username")

    class Meta:
        model = Membership
        fields = ["team", "username", "role"]


class MembershipViewSet(TeamScopedViewSet):
    """Who is in one's teams. Managers change and remove; everyone may remove themselves. One joins by invitation."""

    queryset = Membership.objects.select_related("team", "user")
    serializer_class = MembershipSerializer
    filterset_class = MembershipFilter
    search_fields = ["user__username"]
    ordering_fields = ["id", "user__username", "role", "created_at"]
    http_method_names = ["get", "patch", "delete", "head", "options"]
    write_role = Role.MANAGER
    delete_role = Role.MANAGER

    def check_object_permissions(self, request: Request, obj: Membership) -> None:
        """Let everyone leave."""
        if request.method == "DELETE" and obj.user_id == request.user.pk:
            return
        super().check_object_permissions(request, obj)

    def perform_update(self, serializer: Any) -> None:
        """Give the person another role."""
        refuse_other_team(serializer)
        membership, values = serializer.instance, serializer.validated_data
        if values.get("user", {}).get("username", membership.user.username) != membership.user.username:
            raise serializers.ValidationError({"username": [_("Invite the other person, and remove this one.")]})
        if "role" in values:
            services.change_role(membership=membership, user=user_of(self.request), role=Role(values["role"]))

    def perform_destroy(self, instance: Membership) -> None:
        """Take the person off the team."""
        services.remove_member(membership=instance, user=user_of(self.request))
