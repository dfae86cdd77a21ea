"""Where the level of what was measured again and again changed in the period: regressions, and what got better."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db import connection
from django.db.models import Count, Max

from apps.bench import statistics, strict_json
from apps.bench.statistics.changes import ALPHA
from apps.bench.toolkit import Metric, Tool
from apps.campaigns.models import Campaign, Lane
from apps.campaigns.queries.visibility import for_whole_team
from apps.comparison.history.changes import LEAST_LEVEL
from apps.comparison.history.points import label_of, names_apart
from apps.comparison.history.series import Subject
from apps.comparison.models import ChangePoint
from apps.reports.overview.activity import Activity
from apps.reports.overview.scope import Scope

# Of what was repeated most often so many are looked at, each at so many points of so many of its newest sweeps.
MOST_HISTORIES = 200
NEWEST_SWEEPS = 3
MOST_POINTS = 12

# Of the points that lanes measured so many, spread evenly over the sweep.
_POINTS = """
WITH points AS (
    SELECT DISTINCT ON (lane_id, point) lane_id, point, parameters FROM campaigns_trial
    WHERE lane_id = ANY(%(lanes)s) AND state = 'succeeded' AND NOT is_warmup AND finished_at < %(end)s
), placed AS (
    SELECT lane_id, parameters, row_number() OVER (PARTITION BY lane_id ORDER BY point) place,
        count(*) OVER (PARTITION BY lane_id) total
    FROM points
)
SELECT lane_id, parameters FROM placed
WHERE total <= %(most)s OR place * %(most)s / total > (place - 1) * %(most)s / total
ORDER BY lane_id, place
"""
# The median of each campaign at those points, of the figures that count, in the order of time. The trials come first:
# to find them by what they were given costs one look at each.
_LEVELS = """
WITH told AS MATERIALIZED (
    SELECT id, lane_id, experiment_id, campaign_id, parameters FROM campaigns_trial
    WHERE lane_id = ANY(%(lanes)s) AND parameters = ANY(%(points)s::jsonb[])
        AND state = 'succeeded' AND finished_at < %(end)s
)
SELECT w.history, p.place, t.campaign_id, min(r.recorded_at), percentile_cont(0.5) WITHIN GROUP (ORDER BY s.value)
FROM told t
JOIN unnest(%(lanes)s::bigint[], %(histories)s::int[], %(metrics)s::text[]) w(lane, history, metric)
    ON w.lane = t.lane_id
JOIN unnest(%(of)s::int[], %(places)s::int[], %(points)s::jsonb[]) p(history, place, parameters)
    ON p.history = w.history AND p.parameters = t.parameters
JOIN results_sample s ON s.trial_id = t.id AND s.metric = w.metric AND s.counts
JOIN results_result r ON r.id = s.result_id
GROUP BY 1, 2, 3 ORDER BY 1, 2, 4, 3
"""


@dataclass(frozen=True)
class CampaignChange:
    """A change of level before a campaign, largest of the points that changed there; levels are medians (base units).

    `points` is how many points of the sweep changed with it; `decision` is what a person says of it, None if nobody.
    Of a trend the levels are the ends of the line, and the campaign is the last.
    """

    tool: Tool
    metric: Metric
    roles: dict[str, list[int]]
    parameters: dict[str, Any]
    point: str
    points: int
    campaign: int
    at: datetime
    before: float
    after: float
    decision: ChangePoint | None = None
    is_trend: bool = False

    @property
    def ratio(self) -> float:
        """Return the level after over the one before."""
        return self.after / self.before if self.before else 0.0

    @property
    def is_worse(self) -> bool:
        """Return whether it is a regression."""
        return (self.after > self.before) != self.metric.higher_is_better


@dataclass(frozen=True)
class Changes:
    """The changes, the newest first; of `histories` there were so many, and only `examined` were looked at."""

    found: tuple[CampaignChange, ...]
    histories: int
    examined: int

    def of(self, worse: bool) -> list[CampaignChange]:
        """Return the regressions, or what got better."""
        return [change for change in self.found if change.is_worse == worse]


@dataclass(frozen=True)
class _History:
    """What one team measured with one tool between the same nodes; `newest` lanes succeeded in the period."""

    tool: str
    roles: dict[str, list[int]]
    lanes: tuple[int, ...]
    newest: tuple[int, ...]


@dataclass(frozen=True)
class _Level:
    campaign: int
    at: datetime
    median: float


def read(scope: Scope, activity: Activity) -> Changes:
    """Return the changes of level of the primary metrics in the period, in four queries, without the dismissed."""
    histories = _histories(scope, activity)
    examined = histories[:MOST_HISTORIES]
    points = _points(examined, scope)
    levels = _levels(examined, points, scope)
    all_changes = [
        change
        for place, history in enumerate(examined)
        for change in _changes(history, [(point, levels[place, at]) for at, point in enumerate(points[place])], scope)
    ]
    decided = sorted(
        _decided(all_changes, scope), key=lambda item: (item.at, item.campaign, item.tool.slug), reverse=True
    )
    return Changes(tuple(decided), len(histories), len(examined))


def _histories(scope: Scope, activity: Activity) -> list[_History]:
    """Return what enough campaigns measured, also in the period; what was measured most often comes first."""
    campaigns = Campaign.objects.filter(
        for_whole_team(),
        team=scope.team,
        deleting_at=None,
        origin=Campaign.Origin.MEASURED,
        launched_at__lt=scope.period.end,
    )
    rows = (
        Lane.objects.filter(experiment__campaign__in=campaigns, experiment__tool__in=scope.metrics)
        .values("experiment__tool", "roles")
        .annotate(campaigns=Count("experiment__campaign", distinct=True), lanes=ArrayAgg("pk"), last=Max("pk"))
        .filter(campaigns__gte=2 * LEAST_LEVEL)
        .order_by("-campaigns", "-last")
    )
    succeeded = {pk for pk, count in activity.lanes.items() if count.progress.measured}
    histories = []
    for row in rows:
        newest = sorted(succeeded.intersection(row["lanes"]), reverse=True)[:NEWEST_SWEEPS]
        if newest:
            histories.append(_History(row["experiment__tool"], row["roles"], tuple(row["lanes"]), tuple(newest)))
    return histories


def _points(histories: Sequence[_History], scope: Scope) -> dict[int, list[dict[str, Any]]]:
    """Return the points of each history, by its place, that are looked at: those of its newest sweeps."""
    places = {lane: place for place, history in enumerate(histories) for lane in history.newest}
    by_place: dict[int, dict[str, dict[str, Any]]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_POINTS, {"lanes": list(places), "end": scope.period.end, "most": MOST_POINTS})
        for lane, text in cursor.fetchall():
            by_place[places[lane]][text] = json.loads(text)
    return defaultdict(list, {place: list(points.values()) for place, points in by_place.items()})


def _levels(
    histories: Sequence[_History], points: dict[int, list[dict[str, Any]]], scope: Scope
) -> dict[tuple[int, int], list[_Level]]:
    """Return what each campaign measured, the oldest first, by the places of the history and of its point."""
    levels: dict[tuple[int, int], list[_Level]] = defaultdict(list)
    requests = [
        (place, at, strict_json.dumps(point))
        for place, of_history in points.items()
        for at, point in enumerate(of_history)
    ]
    of, places, parameters = map(list, zip(*requests, strict=True)) if requests else ([], [], [])
    lanes, own = _of_lanes(histories)
    metrics = [scope.metrics[histories[place].tool].name for place in own]
    values: dict[str, Any] = {
        "lanes": lanes,
        "histories": own,
        "metrics": metrics,
        "of": of,
        "places": places,
        "points": parameters,
    }
    with connection.cursor() as cursor:
        cursor.execute(_LEVELS, values | {"end": scope.period.end})
        for place, at, campaign, first, median in cursor.fetchall():
            levels[place, at].append(_Level(campaign, first, median))
    return levels


def _of_lanes(histories: Sequence[_History]) -> tuple[list[int], list[int]]:
    """Return all lanes, and beside each the place of its history."""
    pairs = [(lane, place) for place, history in enumerate(histories) for lane in history.lanes]
    return [lane for lane, _place in pairs], [place for _lane, place in pairs]


def _changes(
    history: _History, points: Iterable[tuple[dict[str, Any], list[_Level]]], scope: Scope
) -> Iterable[CampaignChange]:
    """Return the changes of a history in the period, of each campaign the largest where several points changed."""
    if scope.metrics[history.tool].higher_is_better is None:
        return []
    examined = [(parameters, levels) for parameters, levels in points if len(levels) >= 2 * LEAST_LEVEL]
    differing = names_apart([parameters for parameters, _levels in examined])
    by_campaign: dict[int, list[CampaignChange]] = defaultdict(list)
    for parameters, levels in examined:
        medians = [level.median for level in levels]
        if (trend := statistics.find_trend(medians)) and scope.period.start <= levels[-1].at < scope.period.end:
            last = len(levels) - 1
            line = statistics.Change(last, trend.before, trend.after, trend.ratio, 0.0)
            by_campaign[levels[-1].campaign].append(_change(history, parameters, differing, levels, line, scope))
        for change in statistics.find_changes(medians):
            # Of many points one always seems to change: what is said of a history has the certainty of one series,
            # and neither a trend nor slow waves would tell it as well.
            if change.rival or change.p * len(examined) > ALPHA:
                continue
            level = levels[change.place]
            if not scope.period.start <= level.at < scope.period.end:
                continue
            largest = _change(history, parameters, differing, levels, change, scope)
            by_campaign[level.campaign].append(largest)
    return [replace(max(changes, key=_size), points=len(changes)) for changes in by_campaign.values()]


def _change(
    history: _History,
    parameters: dict[str, Any],
    differing: Sequence[str],
    levels: Sequence[_Level],
    change: statistics.Change,
    scope: Scope,
) -> CampaignChange:
    """Return a change of a history at a point; one at the last campaign is a trend, for levels need four."""
    tool = scope.tools[history.tool]
    return CampaignChange(
        tool=tool,
        metric=scope.metrics[history.tool],
        roles=history.roles,
        parameters=parameters,
        point=label_of(tool, parameters, differing),
        points=1,
        campaign=levels[change.place].campaign,
        at=levels[change.place].at,
        before=change.before,
        after=change.after,
        is_trend=change.place > len(levels) - LEAST_LEVEL,
    )


def _size(change: CampaignChange) -> float:
    """Return how large a change is, up and down alike."""
    return abs(math.log(change.ratio)) if change.ratio > 0 else math.inf


def _decided(changes: Sequence[CampaignChange], scope: Scope) -> Iterable[CampaignChange]:
    """Return the changes with what people decided on them, without those of which one says that they are none."""
    keys = [Subject(scope.team, item.tool, item.metric, item.roles, item.parameters).key for item in changes]
    rows = ChangePoint.objects.filter(team=scope.team, key__in=keys)
    decisions = {(row.key, row.campaign_id): row for row in rows}
    decided = (
        replace(item, decision=decisions.get((key, item.campaign))) for item, key in zip(changes, keys, strict=True)
    )
    return [item for item in decided if not item.decision or item.decision.state != ChangePoint.State.DISMISSED]
