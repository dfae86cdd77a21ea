"""The base of REST views over what teams own: scoping, roles by method, read-only tokens."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from rest_framework import permissions, serializers
from rest_framework.request import Request

from apps.accounts import rights, team_choice
from apps.accounts.models import Role, Team
from apps.accounts.permissions import ScopedToken
from apps.core import rest
from apps.core.entries import Referring
from apps.core.versions import hold


class TeamField(serializers.SlugRelatedField):
    """A team by its short name; without one, the person's team for new work, else the one they joined first."""

    def __init__(self, **kwargs: Any) -> None:
        if not kwargs.get("read_only"):
            kwargs = {"queryset": Team.objects.all(), "required": False} | kwargs
        super().__init__(slug_field="slug", **kwargs)

    def get_queryset(self) -> QuerySet[Team]:
        """Return the teams the person knows of; whether they may write there is asked by `team_for_new`."""
        return rights.teams_for(self.context["request"].user, Role.VIEWER)


class ScopedRelatedField(Referring, serializers.PrimaryKeyRelatedField):
    """A reference by id to something of the person's teams; others' things do not exist. `path` leads to the team."""

    def __init__(self, path: str = "team", **kwargs: Any) -> None:
        self.path = path
        super().__init__(**kwargs)

    def get_queryset(self) -> QuerySet:
        """Return what the person may choose."""
        choices: Any = super().get_queryset()
        return self.narrow(choices)

    def narrow(self, rows: QuerySet) -> QuerySet:
        """Return those of the rows that the person may see."""
        return rights.visible(rows, self.context["request"].user, path=self.path)


def get_scoped_or_404(queryset: QuerySet, **lookup: Any) -> Any:
    """Return the one row of a scoped query set, or raise Http404."""
    return get_object_or_404(queryset, **lookup)


def team_for_new(request: Request, data: dict[str, Any], role: Role = Role.OPERATOR) -> Team:
    """Return the team a new object goes to: the one given, else the person's choice, else the one they joined first.

    PermissionDenied for a role that is too low in it: it never goes to another instead.
    """
    if data.get("team"):
        rights.require(request.user, data["team"], role)
        return data["team"]
    return team_choice.usual_team_for(rights.user_of(request), role)


class TeamScopedViewSet(rest.ModelViewSet):
    """Rows of the person's teams; viewers read, operators write (`write_role`, `delete_role`)."""

    permission_classes = [permissions.IsAuthenticated, ScopedToken]
    team_path = "team"
    write_role = Role.OPERATOR
    delete_role = Role.OPERATOR
    # The actions that are asked of a team's thing before there is one: the role is asked before the rest is read.
    actions_in_team = frozenset({"create"})

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Look at who asks, and what; refuse a role that is too low in the team that the body names, or means."""
        super().initial(request, *args, **kwargs)
        if self.action in self.actions_in_team:
            self._require_role(request)

    def get_queryset(self) -> QuerySet:
        """Return only what the person's teams own."""
        return self.narrow(super().get_queryset())

    def narrow(self, rows: QuerySet) -> QuerySet:
        """Return those of the rows that the person may see."""
        return rights.visible(rows, self.request.user, path=self.team_path)

    def team_of(self, instance: Any) -> Team:
        """Return the team that owns a row."""
        for name in self.team_path.split("__"):
            instance = getattr(instance, name)
        return instance

    def _require_role(self, request: Request) -> None:
        """Raise PermissionDenied for a role that is too low; what is wrong with the body is said where it is read."""
        first, *rest = self.team_path.split("__")
        serializer: Any = self.get_serializer()
        field = serializer.fields.get(first)
        given = request.data.get(first) if isinstance(request.data, Mapping) else None
        if field is None or field.read_only or (given is None and rest):
            return
        try:
            found = None if given is None else field.run_validation(given)
        except serializers.ValidationError:
            return
        for name in rest:
            found = getattr(found, name)
        team_for_new(request, {"team": found}, self.write_role)

    def check_object_permissions(self, request: Request, obj: Any) -> None:
        """Refuse writes to a role that is too low."""
        super().check_object_permissions(request, obj)
        if request.method not in permissions.SAFE_METHODS:
            role = self.delete_role if request.method == "DELETE" else self.write_role
            rights.require(request.user, self.team_of(obj), role)

    def perform_create(self, serializer: Any) -> None:
        """Make the object in the team given, or as `team_for_new` chooses."""
        serializer.save(team=team_for_new(self.request, serializer.validated_data, self.write_role))

    def perform_update(self, serializer: Any) -> None:
        """Save the object; it stays in its team."""
        refuse_other_team(serializer)
        with transaction.atomic():
            hold(serializer.instance)
            serializer.save()


def refuse_other_team(serializer: Any) -> None:
    """Raise a ValidationError if the request would move an object to another team."""
    team = serializer.validated_data.pop("team", None)
    if team is not None and team != serializer.instance.team:
        raise serializers.ValidationError({"team": [_("It stays in its team: make a new one in the other team.")]})
