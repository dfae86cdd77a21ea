"""Measure the same again: a campaign made of a recipe, on the nodes of that name or on others in their place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.bench.text import Message, _
from apps.campaigns import errors
from apps.campaigns.models import Campaign
from apps.campaigns.models.foreign_names import ForeignName, NameKind
from apps.campaigns.runnable import names_in
from apps.campaigns.services.campaigns import create_campaign
from apps.campaigns.services.compositions import Composition
from apps.campaigns.services.experiments import Player
from apps.campaigns.services.launches import start_expanded
from apps.campaigns.turns import sweep_turn
from apps.testbeds.models import Cluster, FileSystem, Node

_KINDS: dict[str, tuple[type[Node] | type[Cluster] | type[FileSystem], NameKind]] = {
    "nodes": (Node, NameKind.NODE),
    "clusters": (Cluster, NameKind.CLUSTER),
    "file_systems": (FileSystem, NameKind.FILE_SYSTEM),
}


@dataclass(frozen=True)
class NodeStandIns:
    """{name in the recipe: name in the team's inventory}, for those that differ."""

    nodes: Mapping[str, str] = field(default_factory=dict)
    clusters: Mapping[str, str] = field(default_factory=dict)
    file_systems: Mapping[str, str] = field(default_factory=dict)


def run_again(
    *,
    recipe: Mapping[str, Any],
    team: Team,
    user: User,
    now: datetime,
    stand_ins: NodeStandIns,
    original: Campaign | None = None,
    name: str = "",
    launch: bool = True,
    visibility: str | None = None,
) -> Campaign:
    """Make a campaign of a recipe and launch it, unless told otherwise; all or nothing.

    errors.Refused names what the team's inventory lacks (`nodes.<name>` and such), or what an experiment refuses.
    `original`, which the user may see, is kept as what it was made from, so that the two can be compared.
    `visibility` as in `create_campaign`.
    """
    rights.require(user, team, Role.OPERATOR)
    things = _team_things(recipe, team, stand_ins)
    # What is stored of a large one takes as long as what it comes to.
    with sweep_turn(user):
        composition = _composition_of(recipe, team, things)
        with transaction.atomic():
            campaign = create_campaign(
                team=team,
                user=user,
                now=now,
                name=name or recipe["name"],
                goal=recipe.get("goal", ""),
                made_from=original,
                visibility=visibility,
                names=_replaced(things),
            )
            expanded = composition.save(campaign)
            if original is not None:
                campaign.cloned_from = original
                campaign.save(update_fields=["cloned_from", "updated_at"])
            return start_expanded(campaign, expanded, user, now) if launch else campaign


def _replaced(things: Mapping[str, Mapping[str | None, Any]]) -> list[ForeignName]:
    """Return the names in a recipe in whose place others of the team are: they stand in its texts."""
    return [
        ForeignName(_KINDS[kind][1].value, name)
        for kind, by_name in things.items()
        for name, thing in by_name.items()
        if name and name != thing.name
    ]


def _composition_of(
    recipe: Mapping[str, Any], team: Team, things: Mapping[str, Mapping[str | None, Any]]
) -> Composition:
    composition = Composition(team)
    experiments: list[Any] = []
    for place, part in enumerate(recipe["experiments"]):
        after = part.get("after")
        if after is not None and after >= len(experiments):
            text = _("It waits for an experiment that does not stand before it in the list.")
            raise errors.Refused({f"experiments.{place}.after": Message(text)})
        values = {key: value for key, value in part.items() if key not in ("roles", "file_system", "after")}
        values["after"] = experiments[after] if after is not None else None
        values["file_system"] = things["file_systems"].get(part.get("file_system"))
        players = [
            Player(role, things["nodes"].get(player.get("node")), things["clusters"].get(player.get("cluster")))
            for role, members in part["roles"].items()
            for player in members
        ]
        experiments.append(composition.add(f"experiments.{place}", roles=players, **values))
    return composition


def _team_things(recipe: Mapping[str, Any], team: Team, stand_ins: NodeStandIns) -> dict[str, dict[str | None, Any]]:
    """Return {kind: {name in the recipe: thing of the team}}; errors.Refused for each that the team has not."""
    by_kind: dict[str, dict[str | None, Any]] = {}
    wrong: dict[str, Message] = {}
    for kind, names in names_in(dict(recipe)).items():
        substitutes: Mapping[str, str] = getattr(stand_ins, kind)
        for name in (name for name in substitutes if name not in names):
            text = _("The recipe names no “%(name)s”; it names: %(known)s.")
            wrong[f"{kind}.{name}"] = Message(text, {"name": name, "known": ", ".join(sorted(names)) or "–"})
        own = {name: substitutes.get(name) or name for name in names}
        rows = _KINDS[kind][0]._default_manager.filter(team=team, name__in=set(own.values()))
        things = {thing.name: thing for thing in rows}
        by_kind[kind] = {name: things[mine] for name, mine in own.items() if mine in things}
        text = _("“%(name)s” is not in the inventory of %(team)s: say what takes its place.")
        for name, mine in own.items():
            if mine not in things:
                wrong[f"{kind}.{name}"] = Message(text, {"name": mine, "team": team.name})
    if wrong:
        raise errors.Refused(wrong)
    return by_kind
