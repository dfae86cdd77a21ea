"""What the reasons to wait are read from: lanes with trials to come, who holds what they need, what nodes lack."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import Count, F, Max, Min

from apps.accounts import rights
from apps.accounts.models import Role
from apps.campaigns.due import due as is_due
from apps.campaigns.models import Campaign, Event, Lane, Reservation, Run, Trial
from apps.campaigns.queries.visibility import Person, visible
from apps.campaigns.waits.reasons import PAUSED, TOOL_AWAITED
from apps.core import handout
from apps.testbeds.models import FileSystem, Link, Node
from apps.testbeds.obstacles import Obstacle, obstacles
from apps.toolbox import queries as toolbox

# By the first part of a resource's key ("link:7").
_KINDS: dict[str, tuple[str, type[Node] | type[Link] | type[FileSystem]]] = {
    "node": ("node", Node),
    "link": ("link", Link),
    "fs": ("file-system", FileSystem),
}
# How many trials of the same lane stand before each.
_PLACES = """
SELECT id, place - 1
FROM (
    SELECT id, row_number() OVER (PARTITION BY lane_id ORDER BY state = 'pending', position) AS place
    FROM campaigns_trial WHERE lane_id = ANY(%(lanes)s) AND state IN ('pending', 'running')
) AS ranked
WHERE id = ANY(%(trials)s)
"""


@dataclass(frozen=True)
class WaitingLane:
    """A lane with trials to come, of which `due` may start by now; the first of the others may at `next_at`.

    They wait since `begun` at the earliest: then their campaign was launched.
    """

    pk: int
    campaign: int
    begun: datetime | None
    tool: str
    nodes: tuple[int, ...]
    resources: tuple[str, ...]
    trials: int
    due: int
    next_at: datetime | None


@dataclass(frozen=True)
class Holder:
    """Who holds a resource: a run of a trial, since when; `fenced_until` if it is kept back for what may run on."""

    resource: str
    since: datetime
    trial: int
    lane: int
    campaign: int
    fenced_until: datetime | None = None


@dataclass(frozen=True)
class KnownCampaign:
    """What the reader may know of a campaign that holds something: its name, or only whether it is the team's."""

    name: str | None
    is_own: bool


@dataclass(frozen=True)
class WaitFacts:
    """All that the reasons of some campaigns are found from, as it is `now`."""

    now: datetime
    lanes: dict[int, WaitingLane]
    obstacles: dict[int, Obstacle]
    holders: dict[str, Holder]
    campaigns: dict[int, KnownCampaign]
    names: dict[str, str]
    awaiting: Mapping[str, int]
    awaited_since: Mapping[tuple[int, str], datetime]
    stop: handout.Stop | None = None

    def name_of(self, resource: str) -> tuple[str, int, str]:
        """Return the kind, number and name of what a key stands for."""
        prefix, _colon, number = resource.partition(":")
        kind = _KINDS[prefix][0] if prefix in _KINDS else prefix
        return kind, int(number), self.names.get(resource, resource)


def read_facts(
    *, campaigns: Collection[int], user: Person, now: datetime, lanes: Collection[int] | None = None
) -> WaitFacts:
    """Return what is known at `now` of running campaigns, or of these lanes of them, in at most a dozen queries."""
    waiting = _waiting_lanes(campaigns, now, lanes)
    troubled = obstacles(nodes={node for lane in waiting.values() for node in lane.nodes}, now=now)
    holders = _holders({key for lane in waiting.values() for key in lane.resources})
    others = {
        holder.campaign
        for lane in waiting.values()
        for key in lane.resources
        if (holder := holders.get(key)) and holder.campaign != lane.campaign
    }
    named = {f"node:{pk}" for pk in troubled} | set(holders)
    holding = _campaigns_by_id(others, user)
    awaiting = toolbox.awaiting_tools({lane.tool for lane in waiting.values()})
    since = _awaited_since({lane.campaign for lane in waiting.values() if lane.tool in awaiting})
    return WaitFacts(now, waiting, troubled, holders, holding, _names(named), awaiting, since, handout.stop())


def _waiting_lanes(
    campaigns: Collection[int], now: datetime, lanes: Collection[int] | None
) -> dict[int, WaitingLane]:
    due = is_due(now, F("experiment__retry_wait_s"))
    pending = Trial.objects.filter(campaign__in=campaigns, state=Trial.State.PENDING)
    if lanes is not None:
        pending = pending.filter(lane__in=lanes)
    counts = {
        pk: rest
        for pk, *rest in pending.order_by()
        .values_list("lane")
        .annotate(trials=Count("pk"), due=Count("pk", filter=due), next_at=Min("not_before", filter=~due))
    }
    rows = Lane.objects.filter(pk__in=counts).order_by()
    own = ("experiment__campaign", "experiment__campaign__launched_at", "experiment__tool")
    return {
        pk: WaitingLane(pk, campaign, begun, tool, _nodes_of(roles), tuple(resources), *counts[pk])
        for pk, campaign, begun, tool, roles, resources in rows.values_list("pk", *own, "roles", "resources")
    }


def _nodes_of(roles: dict[str, list[int]]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(pk for members in roles.values() for pk in members))


def _holders(resources: Collection[str]) -> dict[str, Holder]:
    rows = Reservation.objects.filter(resource__in=resources, released_at=None).values_list(
        "resource", "taken_at", "run__trial", "run__trial__lane", "run__experiment__campaign", "fenced_until"
    )
    return {row[0]: Holder(*row) for row in rows} if resources else {}


def _campaigns_by_id(campaigns: Collection[int], user: Person) -> dict[int, KnownCampaign]:
    if not campaigns:
        return {}
    rows = Campaign.objects.filter(pk__in=campaigns).order_by()
    names = dict(visible(rows, user).values_list("pk", "name"))
    teams = set(rights.teams_for(user, Role.VIEWER).values_list("pk", flat=True))
    return {pk: KnownCampaign(names.get(pk), team in teams) for pk, team in rows.values_list("pk", "team")}


def _names(keys: Iterable[str]) -> dict[str, str]:
    ids_by_prefix: dict[str, list[int]] = {}
    for key in keys:
        prefix, _colon, number = key.partition(":")
        ids_by_prefix.setdefault(prefix, []).append(int(number))
    return {
        f"{prefix}:{pk}": name
        for prefix, pks in ids_by_prefix.items()
        if prefix in _KINDS
        for pk, name in _KINDS[prefix][1]._default_manager.filter(pk__in=pks).values_list("pk", "name")
    }


def places_in_queue(trials: Collection[Trial]) -> dict[int, int]:
    """Return {id of a trial that waits: how many of its lane come before it, a running one included}."""
    values = {"lanes": sorted({trial.lane_id for trial in trials}), "trials": [trial.pk for trial in trials]}
    with connection.cursor() as cursor:
        cursor.execute(_PLACES, values)
        return dict(cursor.fetchall())


def ended_attempts(trials: Collection[Trial]) -> dict[int, datetime]:
    """Return {id of a trial: when its last attempt ended}, of those that had one."""
    runs = Run.objects.filter(trial__in=[trial.pk for trial in trials if trial.attempts])
    return dict(runs.order_by().values_list("trial").annotate(Max("ended_at")))


def pauses(campaigns: Collection[int]) -> dict[int, tuple[datetime, str]]:
    """Return {id of a campaign: when it was paused last, and by whom}, as its log has it."""
    events = Event.objects.filter(campaign__in=campaigns, message__msgid=PAUSED).order_by("campaign", "-pk")
    rows = events.distinct("campaign").values_list("campaign", "at", "message__params__user")
    return {pk: (at, str(user)) for pk, at, user in rows}


def _awaited_since(campaigns: Collection[int]) -> dict[tuple[int, str], datetime]:
    """Return {(campaign, tool that it waits for): since when}, as the campaigns' logs have it."""
    if not campaigns:
        return {}
    events = Event.objects.filter(campaign__in=campaigns, message__msgid=TOOL_AWAITED).order_by()
    return {(pk, str(tool)): at for pk, tool, at in events.values_list("campaign", "message__params__tool", "at")}


def runs_under_way(campaigns: Collection[int]) -> set[int]:
    """Return those of the campaigns of which something is under way."""
    running = Trial.objects.filter(campaign__in=campaigns, state=Trial.State.RUNNING)
    return set(running.order_by().values_list("campaign", flat=True).distinct())
