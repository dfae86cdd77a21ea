"""What was measured alike again and again: the histories there are, and the figures of one."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Func, JSONField, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from apps.accounts.models import Team, User
from apps.bench import statistics
from apps.bench.sweep import likeness
from apps.bench.toolkit import Metric, Tool
from apps.campaigns.models import Campaign, Lane, Trial
from apps.campaigns.queries.visibility import counted, visible
from apps.results import doubts, queries, ways
from apps.results.doubts import Doubts
from apps.results.models import Sample
from apps.testbeds.models import Node
from apps.toolbox import queries as toolbox

# The newest trials up to this many are looked at, whole campaigns only.
MOST_TRIALS = 50_000
# Of the newest trials so many tell which metrics there are.
TELLING_TRIALS = 50
# Of which campaigns lanes count: what a publication prints are figures of many samples, most often without saying of
# how many.
_SAMPLED = {
    "experiment__campaign__deleting_at": None,
    "experiment__campaign__launched_at__isnull": False,
    "experiment__campaign__origin__in": (Campaign.Origin.MEASURED, Campaign.Origin.IMPORTED),
}


# What tells histories apart in their list: the tool, the team, and the roles as text.
_Key = tuple[str, int, str]


class ToldParameters(Func):
    """A trial's parameters without the mark that keeps untold settings apart."""

    template = "(%(expressions)s)"
    arg_joiner = " - "
    output_field = JSONField()


@dataclass(frozen=True)
class Subject:
    """What a history is of: one metric of one tool between the same nodes with the same parameters."""

    team: Team
    tool: Tool
    metric: Metric
    roles: dict[str, list[int]]
    parameters: dict[str, Any]

    @property
    def key(self) -> str:
        """Return the name of the history: the same for whatever is measured alike."""
        identity = [self.tool.slug, self.metric.name, self.roles, self.parameters]
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:40]


@dataclass(frozen=True)
class CampaignLevel:
    """What one campaign measured of the subject: its figures in the order of time, `at` the first of them.

    `is_told` whether only an archive says that it was measured; `has_versions` whether each figure has its tool's.
    """

    campaign: int
    name: str
    origin: str
    experiment: int
    at: datetime
    values: tuple[float, ...]
    versions: frozenset[str]
    summary: statistics.Summary
    interval: statistics.Interval | None
    trials: tuple[int, ...] = ()
    doubts: Doubts = field(default_factory=Doubts)
    is_told: bool = False
    has_versions: bool = True


@dataclass(frozen=True)
class ListedHistory:
    """A tool between the same nodes, as the list of histories shows it; `lane` is the newest such."""

    lane: int
    tool: Tool
    nodes: str
    team: Team
    campaigns: int
    last: datetime | None


def lanes_for(user: User) -> QuerySet[Lane]:
    """Return the lanes of what was measured, here or elsewhere, in the campaigns that count for the user."""
    return counted(Lane.objects.filter(**_SAMPLED), user, path="experiment__campaign")


def lanes_seen(user: User) -> QuerySet[Lane]:
    """Return the lanes of the campaigns that the user may see, for whoever names one of them."""
    return visible(Lane.objects.filter(**_SAMPLED), user, path="experiment__campaign")


def known_histories(user: User, *, least: int = 1) -> list[ListedHistory]:
    """Return what was measured in `least` campaigns or more, what was repeated most often first."""
    rows = list(
        lanes_for(user)
        .values("experiment__tool", "experiment__campaign__team", "roles")
        .annotate(
            lane=Max("pk"),
            campaigns=Count("experiment__campaign", distinct=True),
            last=Max("experiment__campaign__launched_at"),
        )
        .filter(campaigns__gte=least)
        .order_by("-campaigns", "-last")
    )
    names = dict(
        Node.objects.filter(pk__in={pk for row in rows for ids in row["roles"].values() for pk in ids}).values_list(
            "pk", "name"
        )
    )
    sides = _sides(user)
    teams = Team.objects.in_bulk({row["experiment__campaign__team"] for row in rows})
    tools = {slug: toolbox.get_tool(slug) for slug in {row["experiment__tool"] for row in rows}}
    return [
        ListedHistory(
            lane=row["lane"],
            tool=tools[row["experiment__tool"]],
            nodes=_ends(tools[row["experiment__tool"]], row["roles"], names, sides[_key(row)]),
            team=teams[row["experiment__campaign__team"]],
            campaigns=row["campaigns"],
            last=row["last"],
        )
        for row in rows
    ]


def like(lane: Lane, user: User) -> list[int]:
    """Return the lanes on which the same tool ran between the same nodes for the same team, the newest first.

    Who is no member of that team has those of the campaigns that it offered to them and they accepted.
    """
    own = counted(Campaign.objects.filter(team=lane.experiment.campaign.team_id), user).order_by().values("pk")
    # Counted lane by lane: a join would count through all trials that there are.
    trials = Trial.objects.filter(lane=OuterRef("pk")).order_by().values("lane").annotate(n=Count("pk")).values("n")
    rows = (
        Lane.objects.filter(
            roles=lane.roles,
            experiment__tool=lane.experiment.tool,
            experiment__campaign__team=lane.experiment.campaign.team_id,
            **_SAMPLED,
        )
        # What one person keeps to themselves, and what is merely public, is in no history but its own.
        .filter(
            Q(pk=lane.pk)
            | ~Q(experiment__campaign__visibility=Campaign.Visibility.PRIVATE) & Q(experiment__campaign__in=own)
        )
        .annotate(size=Coalesce(Subquery(trials), 0))
        .order_by("-experiment__campaign__launched_at", "-pk")
        .values_list("pk", "size")
    )
    lanes: list[int] = []
    total = 0
    for pk, size in rows:
        total += size
        if lanes and total > MOST_TRIALS:
            break
        lanes.append(pk)
    return lanes


def levels_of(subject: Subject, lanes: Iterable[int]) -> list[CampaignLevel]:
    """Return what each campaign measured of the subject, the oldest first, of the figures that count."""
    rows = (
        Sample.objects.filter(trial__lane__in=list(lanes), counts=True, metric=subject.metric.name)
        # Runs of which more is not known are measured alike as far as anybody told.
        .annotate(told=ToldParameters("trial__parameters", Value(likeness.AS_IN)))
        .filter(told=subject.parameters)
        .order_by("result__recorded_at", "pk")
        .values_list(
            "trial__campaign_id",
            "trial__campaign__name",
            "trial__campaign__origin",
            "experiment_id",
            "result__recorded_at",
            "value",
            "result__tool_version",
            "trial_id",
            "result__flags",
            Campaign.told("trial__campaign__"),
        )
    )
    grouped: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for campaign, *rest in rows:
        grouped[campaign].append(tuple(rest))
    return [_level(campaign, members, subject.metric.name) for campaign, members in grouped.items()]


def metrics_measured(tool: Tool, lanes: Iterable[int]) -> list[Metric]:
    """Return the tool's metrics, the primary one first, that the newest trials on the lanes have figures of."""
    newest = Trial.objects.filter(lane__in=list(lanes), state=Trial.State.SUCCEEDED).order_by("-pk")
    trials = list(newest.values_list("pk", flat=True)[:TELLING_TRIALS])
    names = set(Sample.objects.filter(trial__in=trials).values_list("metric", flat=True).distinct())
    return [metric for metric in queries.metrics_of(tool) if metric.name in names]


def _level(campaign: int, members: list[tuple[Any, ...]], metric: str) -> CampaignLevel:
    name, origin, experiment, at = members[0][:4]
    values = tuple(member[4] for member in members)
    return CampaignLevel(
        campaign=campaign,
        name=name,
        origin=origin,
        is_told=members[0][8],
        experiment=experiment,
        at=at,
        values=values,
        trials=tuple(member[6] for member in members),
        doubts=doubts.from_flags((member[6], metric, member[7]) for member in members),
        versions=frozenset(member[5] for member in members if member[5]),
        has_versions=all(member[5] for member in members),
        summary=statistics.summarise(values),
        interval=statistics.quantile_interval(values),
    )


def _sides(user: User) -> dict[_Key, set[tuple[bool, str]]]:
    """Return which ways the data of all lanes of each history goes, each with its arrow."""
    rows = lanes_for(user).values(
        "experiment__tool", "experiment__campaign__team", "roles", "experiment__fixed", "experiment__factors"
    )
    directions: dict[_Key, set[tuple[bool, str]]] = defaultdict(set)
    for row in rows.distinct():
        tool = toolbox.get_tool(row["experiment__tool"])
        directions[_key(row)].add(ways.arrow_for(tool, row["experiment__fixed"], row["experiment__factors"]))
    return directions


def _key(row: Mapping[str, Any]) -> _Key:
    return row["experiment__tool"], row["experiment__campaign__team"], json.dumps(row["roles"], sort_keys=True)


def _ends(tool: Tool, roles: dict[str, list[int]], names: dict[int, str], sides: set[tuple[bool, str]]) -> str:
    """Return "sender → receiver", or "client ↔ server" where data went both ways."""
    is_back, arrow = next(iter(sides)) if len(sides) == 1 else (False, ways.BOTH_WAYS)
    return ways.lane_ends(roles, tool, names, is_back=is_back, arrow=arrow)
