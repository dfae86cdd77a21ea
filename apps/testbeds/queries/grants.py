"""What teams may set on nodes."""

import fnmatch
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import QuerySet

from apps.accounts import rights
from apps.accounts.models import Team, User
from apps.testbeds.models import Node, SettingGrant


@dataclass(frozen=True)
class Wish:
    """A value that somebody wants to give a key on a node."""

    node: int
    key: str
    value: str


def grants_for(user: User) -> QuerySet[SettingGrant]:
    """Return the grants, withdrawn ones too, on nodes of the user's teams."""
    grants = SettingGrant.objects.select_related("node__team", "team", "granted_by", "revoked_by")
    return rights.visible(grants, user, path="node__team")


def grants_on(node: Node) -> QuerySet[SettingGrant]:
    """Return a node's grants, those in force first."""
    grants = node.setting_grants.select_related("team", "granted_by", "revoked_by")
    return grants.order_by("-revoked_at", "pattern", "pk")


def not_allowed(team: Team | int, wishes: Iterable[Wish]) -> list[Wish]:
    """Return the wishes that no grant in force covers, in their order."""
    unique_wishes = list(dict.fromkeys(wishes))
    rows = SettingGrant.objects.filter(team=team, node__in={wish.node for wish in unique_wishes}, revoked_at=None)
    allowed: dict[int, list[tuple[str, list[str]]]] = {}
    for node, pattern, values in rows.values_list("node", "pattern", "values"):
        allowed.setdefault(node, []).append((pattern, values))
    return [wish for wish in unique_wishes if not any(_covers(*grant, wish) for grant in allowed.get(wish.node, ()))]


def _covers(pattern: str, values: Collection[str], wish: Wish) -> bool:
    if not fnmatch.fnmatchcase(wish.key, pattern):
        return False
    value = " ".join(wish.value.split())
    return not values or any(fnmatch.fnmatchcase(value, allowed) for allowed in values)
