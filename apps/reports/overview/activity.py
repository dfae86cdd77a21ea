"""What was done in a period and what it cost, added up by the database: trials, their ends, node-hours."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

from django.db import connection
from psycopg.types.json import Jsonb

from apps.campaigns.models import Campaign
from apps.campaigns.queries import Progress
from apps.reports.overview.scope import Scope, ScopeLane
from apps.results import impossible_times

K = TypeVar("K", bound=Hashable)

# Trials that ended in the period, by lane, month and end; those that a person set aside apart.
_TRIALS = """
SELECT lane_id, date_trunc('month', finished_at AT TIME ZONE %(zone)s)::date, state, count(*),
    count(*) FILTER (WHERE invalid_at IS NOT NULL AND state = 'succeeded')
FROM campaigns_trial
WHERE campaign_id = ANY(%(campaigns)s) AND finished_at >= %(start)s AND finished_at < %(end)s
    AND state IN ('succeeded', 'failed', 'cancelled') AND NOT is_warmup
GROUP BY 1, 2, 3
"""
# How long all attempts of a lane took together, warm-ups and faults included: they, too, kept the nodes busy.
# It is not known of those during which the server's clock was set.
_TIME = """
SELECT t.lane_id, sum(extract(epoch FROM r.ended_at - r.started_at))
FROM campaigns_run r JOIN campaigns_trial t ON t.id = r.trial_id
WHERE t.campaign_id = ANY(%(campaigns)s) AND r.ended_at >= %(start)s AND r.ended_at < %(end)s
    AND r.ended_at >= r.started_at AND NOT EXISTS (
        SELECT FROM results_result s WHERE s.run_id = r.id AND s.flags @> %(clock_set)s
    )
GROUP BY 1
"""


@dataclass
class Count:
    """Of a tool, a month, a testbed…: what became of its trials, node-hours as seconds, and campaigns."""

    progress: Progress = field(default_factory=Progress)
    node_s: float = 0.0
    campaigns: set[int] = field(default_factory=set)

    @property
    def trials(self) -> int:
        """Return how many trials ended one way or the other."""
        return self.progress.total

    @property
    def success(self) -> float | None:
        """Return the share that succeeded of those carried out; None where none was."""
        carried_out = self.progress.carried_out
        return self.progress.measured / carried_out if carried_out else None

    def add(self, other: "Count", nodes: int = 0) -> None:
        """Add another count, of whose time so many nodes were busy if that is not all."""
        self.progress += other.progress
        self.node_s += other.node_s * nodes if nodes else other.node_s
        self.campaigns |= other.campaigns


@dataclass(frozen=True)
class Activity:
    """Counts by lane and by month; `seconds` is how long the runs of a lane took, whatever the number of nodes."""

    scope: Scope
    lanes: dict[int, Count]
    months: dict[date, Count]
    seconds: dict[int, float]

    @property
    def total(self) -> Count:
        """Return the counts of all lanes together, zeros without any."""
        return self.by(lambda _lane: None).get(None, Count())

    def by(self, key: Callable[[ScopeLane], K]) -> dict[K, Count]:
        """Return counts by what `key` says of a lane."""
        counts: dict[K, Count] = defaultdict(Count)
        for lane in self.active():
            counts[key(lane)].add(self.lanes[lane.pk])
        return dict(counts)

    def by_testbed(self) -> dict[tuple[int, str], Count]:
        """Return counts by (testbed, who made the campaign), the node-hours those of the testbed's own nodes."""
        counts: dict[tuple[int, str], Count] = defaultdict(Count)
        for lane in self.active():
            person = name_of(self.scope.campaign_of(lane))
            nodes_by_testbed = Counter(self.scope.nodes[pk].testbed_id for pk in lane.nodes if pk in self.scope.nodes)
            for testbed, nodes in nodes_by_testbed.items():
                own = self.lanes[lane.pk]
                part = Count(own.progress, self.seconds.get(lane.pk, 0.0), own.campaigns)
                counts[testbed, person].add(part, nodes)
        return dict(counts)

    def active(self) -> Iterable[ScopeLane]:
        """Return the lanes on which anything ended in the period."""
        return self.scope.within(self.lanes)


def read(scope: Scope) -> Activity:
    """Return what was done, in two queries whatever the number of trials."""
    campaigns = sorted({lane.campaign for lane in scope.lanes.values()})
    period = scope.period
    values: dict[str, Any] = {
        "campaigns": campaigns,
        "start": period.start,
        "end": period.end,
        "zone": period.zone.key,
        "clock_set": Jsonb([{"name": impossible_times.SET_FLAG}]),
    }
    lanes: dict[int, Count] = defaultdict(Count)
    months: dict[date, Count] = defaultdict(Count)
    seconds: dict[int, float] = {}
    with connection.cursor() as cursor:
        cursor.execute(_TRIALS, values)
        for pk, month, state, count, set_aside in cursor.fetchall():
            if lane := scope.lanes.get(pk):
                part = Count(Progress.counted(state, count, set_aside=set_aside), 0.0, {lane.campaign})
                lanes[pk].add(part)
                months[month].add(part)
        cursor.execute(_TIME, values)
        for pk, node_seconds in cursor.fetchall():
            lane = scope.lanes.get(pk)
            # What was measured elsewhere kept none of our nodes busy.
            if lane and scope.campaign_of(lane).origin == Campaign.Origin.MEASURED:
                seconds[pk] = float(node_seconds or 0.0)
                lanes[pk].add(Count(node_s=seconds[pk] * len(lane.nodes), campaigns={lane.campaign}))
    return Activity(scope, dict(lanes), dict(months), seconds)


def name_of(campaign: Campaign) -> str:
    """Return who made a campaign, "" of an account that is gone."""
    person = campaign.created_by
    return (person.get_full_name() or person.get_username()) if person else ""
