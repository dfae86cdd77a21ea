"""REST: the base of views over what teams own; people, teams and tokens."""

from apps.accounts.api.base import (
    ScopedRelatedField,
    TeamField,
    TeamScopedViewSet,
    get_scoped_or_404,
    refuse_other_team,
    team_for_new,
)
from apps.accounts.permissions import ScopedToken

__all__ = [
    "ScopedRelatedField",
    "ScopedToken",
    "TeamField",
    "TeamScopedViewSet",
    "get_scoped_or_404",
    "refuse_other_team",
    "team_for_new",
]
