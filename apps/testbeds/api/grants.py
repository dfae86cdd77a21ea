"""REST: the settings that nodes' owners let teams change."""

from typing import Any

from django.utils import timezone
from django_filters import rest_framework as filters
from rest_framework import serializers

from apps.accounts import rights
from apps.accounts.api import ScopedRelatedField, TeamField, TeamScopedViewSet
from apps.accounts.filters import RowFilter
from apps.accounts.models import Role
from apps.testbeds import services
from apps.testbeds.models import Node, SettingGrant


class GrantSerializer(serializers.ModelSerializer):
    """Leave for a team to set keys that match `pattern` to one of `values` (all if empty); withdrawn, it stays."""

    node = ScopedRelatedField(queryset=Node.objects.select_related("team"))
    team = TeamField()
    values = serializers.ListField(child=serializers.CharField(max_length=200), required=False, max_length=50)
    granted_by: Any = serializers.SlugRelatedField(slug_field="username", read_only=True)
    revoked_by: Any = serializers.SlugRelatedField(slug_field="username", read_only=True)

    class Meta:
        model = SettingGrant
        fields = [
            "id", "node", "team", "pattern", "values", "granted_by", "created_at", "revoked_at", "revoked_by",
        ]  # fmt: skip
        read_only_fields = ["revoked_at"]

    def get_validators(self) -> list[Any]:
        """Leave what concerns several fields to the service."""
        return []


class GrantFilter(filters.FilterSet):
    """Filters of grants; `in_force` leaves out those that were withdrawn."""

    node = RowFilter(lambda user: rights.visible(Node.objects.all(), user))
    in_force = filters.BooleanFilter(field_name="revoked_at", lookup_expr="isnull")

    class Meta:
        model = SettingGrant
        fields = ["node", "pattern"]


class GrantViewSet(TeamScopedViewSet):
    """Settings allowed on nodes of the person's teams; only managers allow and withdraw, nobody changes."""

    queryset = SettingGrant.objects.select_related("node__team", "team", "granted_by", "revoked_by").order_by("id")
    serializer_class = GrantSerializer
    filterset_class = GrantFilter
    http_method_names = ["get", "post", "delete", "head", "options"]
    team_path = "node__team"
    write_role = Role.MANAGER
    delete_role = Role.MANAGER
    search_fields = ["pattern", "node__name"]
    ordering_fields = ["id", "pattern", "created_at"]

    def perform_create(self, serializer: Any) -> None:
        """Allow a setting; without a team, the node's own may use it."""
        serializer.instance = services.grant_setting(user=rights.user_of(self.request), **serializer.validated_data)

    def perform_destroy(self, instance: SettingGrant) -> None:
        """Withdraw it; the record stays."""
        services.revoke_grant(grant=instance, user=rights.user_of(self.request), now=timezone.now())
