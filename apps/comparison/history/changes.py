"""Where a history's level changed, what changed on the nodes at that time, and what people say of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from apps.accounts.models import User
from apps.agents import queries as agents
from apps.agents.models import FactSnapshot
from apps.agents.queries import FactChange
from apps.bench import statistics
from apps.bench.statistics.changes import LEAST_LEVEL
from apps.comparison.history.series import CampaignLevel, Subject
from apps.comparison.models import ChangePoint
from apps.testbeds.models import Node
from apps.testbeds.queries.readers import of_own_nodes

__all__ = [
    "LEAST_LEVEL",
    "HistoryChange",
    "NodeChange",
    "Segment",
    "course_of",
    "decisions_on",
    "segments_of",
    "shown_changes",
]

# So many changed facts are shown of one node; more are no explanation.
MOST_FACTS = 12


@dataclass(frozen=True)
class NodeChange:
    """What an agent told of its node after a change that it had not told before it."""

    node: str
    facts: tuple[FactChange, ...]
    more: int = 0


@dataclass(frozen=True)
class HistoryChange:
    """A change of level before the campaign at `place`, with what is known of it; `decision` is None if it is new.

    `is_version_known` says whether all figures of both campaigns have their tool's version, `untold` of which nodes
    nothing is known from before it or from after it.
    """

    place: int
    level: CampaignLevel
    previous: CampaignLevel
    before: float
    after: float
    ratio: float
    p: float
    correlation: float
    rival: str
    is_better: bool | None
    decision: ChangePoint | None = None
    versions: tuple[str, str] | None = None
    nodes: tuple[NodeChange, ...] = ()
    is_version_known: bool = True
    untold: tuple[str, ...] = ()

    @property
    def has_ratio(self) -> bool:
        """Say whether the change is so many times: from nothing on it is not."""
        return math.isfinite(self.ratio)

    @property
    def p_text(self) -> str:
        """Return how likely chance alone makes such a change in the whole series, as text."""
        return "p < 0.0001" if self.p < 0.0001 else f"p = {self.p:.2g}"

    @property
    def correlation_text(self) -> str:
        """Return how much alike neighbours are about the levels, as text."""
        return f"{self.correlation:.2f}"

    @property
    def state(self) -> str:
        """Return what a person says of it, "found" while nobody did."""
        return "found" if self.decision is None else ChangePoint.State(self.decision.state).value

    @property
    def is_dismissed(self) -> bool:
        """Say whether a person says that this is no change."""
        return self.decision is not None and self.decision.state == ChangePoint.State.DISMISSED


@dataclass(frozen=True)
class Segment:
    """The campaigns from `first` to `last` (places) between two changes, and the median of their medians."""

    first: int
    last: int
    value: float


def shown_changes(subject: Subject, levels: Sequence[CampaignLevel], user: User | None = None) -> list[HistoryChange]:
    """Return the changes of the campaigns' medians, in the order of time, with decisions and what else changed.

    What agents told is shown to a user who may read the facts of the nodes (None: the service itself).
    """
    change_points = course_of(levels).changes
    decided = {item.campaign_id: item for item in decisions_on(subject)}
    changes = [
        HistoryChange(
            place=change.place,
            level=levels[change.place],
            previous=levels[change.place - 1],
            before=change.before,
            after=change.after,
            ratio=change.ratio,
            p=change.p,
            correlation=change.correlation,
            rival=change.rival,
            is_better=_is_better(subject, change),
            decision=decided.get(levels[change.place].campaign),
            versions=_versions(levels[change.place - 1], levels[change.place]),
            is_version_known=levels[change.place - 1].has_versions and levels[change.place].has_versions,
        )
        for change in change_points
    ]
    return _with_facts(subject, changes, user)


def course_of(levels: Sequence[CampaignLevel]) -> statistics.Course:
    """Return what the campaigns' medians show: changes of level, a trend (that is no change), or what is unclear."""
    return statistics.course_of([level.summary.median for level in levels])


def decisions_on(subject: Subject) -> list[ChangePoint]:
    """Return what people of the team decided about the history's changes."""
    rows = ChangePoint.objects.filter(team=subject.team, key=subject.key)
    return list(rows.select_related("decided_by", "campaign"))


def segments_of(levels: Sequence[CampaignLevel], changes: Sequence[HistoryChange]) -> list[Segment]:
    """Return the stretches between the changes that are not dismissed."""
    edges = [0, *(change.place for change in changes if not change.is_dismissed), len(levels)]
    return [
        Segment(first, end - 1, statistics.quantile(sorted(level.summary.median for level in levels[first:end]), 0.5))
        for first, end in pairwise(edges)
        if end > first
    ]


def _is_better(subject: Subject, change: statistics.Change) -> bool | None:
    better = subject.metric.higher_is_better
    return None if better is None else (change.after > change.before) == better


def _versions(before: CampaignLevel, after: CampaignLevel) -> tuple[str, str] | None:
    if before.versions == after.versions:
        return None
    return ", ".join(sorted(before.versions)), ", ".join(sorted(after.versions))


def _with_facts(subject: Subject, changes: list[HistoryChange], user: User | None) -> list[HistoryChange]:
    """Add what the nodes' agents told differently before and after each change."""
    if not changes:
        return []
    nodes = dict(
        Node.objects.filter(pk__in={pk for ids in subject.roles.values() for pk in ids}).values_list("pk", "name")
    )
    told_here = of_own_nodes(FactSnapshot.objects.own().filter(node__in=nodes), user)
    snapshots = list(told_here.order_by("created_at").values_list("node_id", "created_at", "pk"))
    pairs = {
        (change.place, node): (_last(snapshots, node, change.previous.at), _last(snapshots, node, change.level.at))
        for change in changes
        for node in nodes
    }
    snapshot_ids = {pk for old, new in pairs.values() if old != new for pk in (old, new) if pk}
    facts = dict(FactSnapshot.objects.filter(pk__in=snapshot_ids).values_list("pk", "facts"))
    with_nodes = []
    for change in changes:
        node_changes = []
        for node, name in nodes.items():
            old, new = pairs[change.place, node]
            if old != new and old in facts and new in facts:
                all_changed = agents.changes_between(facts[old], facts[new])
                node_changes.append(
                    NodeChange(name, tuple(all_changed[:MOST_FACTS]), max(0, len(all_changed) - MOST_FACTS))
                )
        untold = tuple(sorted(name for node, name in nodes.items() if None in pairs[change.place, node]))
        with_nodes.append(replace(change, nodes=tuple(item for item in node_changes if item.facts), untold=untold))
    return with_nodes


def _last(snapshots: list[tuple[int, datetime, int]], node: int, moment: datetime) -> int | None:
    """Return the snapshot of a node that held at a moment."""
    return next((pk for owner, at, pk in reversed(snapshots) if owner == node and at <= moment), None)
