"""What the disks of a file system's servers give alone: with files as its own, and when it was measured itself."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from apps.bench.rules import pace
from apps.bench.rules.base import BELOW, DISK, MODE, Evidence, Point
from apps.bench.rules.layers.again import setting_of, when_alike, with_others
from apps.bench.rules.layers.asked import is_large, unlike
from apps.bench.rules.layers.beneath import Beneath
from apps.bench.rules.layers.days import When, all_of
from apps.bench.rules.layers.disks import disks_under
from apps.bench.rules.layers.questions import Level, Question, level_of, of_layer
from apps.bench.rules.layers.swings import APART, Swing, swing_among
from apps.bench.rules.shapes import TASKS
from apps.bench.rules.shapes.apart import PRINTED


class DiskAlone(NamedTuple):
    """The best that one disk gave, when that was met, and what it had at that setting earlier (B/s, or 0)."""

    level: Level
    when: When
    earlier: float = 0.0


def disk_beneath(evidence: Evidence, question: Question, own: Level) -> Beneath | None:
    """Return what the disks of the servers give alone beside a rate: if they were measured as it was, else as stated.

    What is stated is of large records, and stands beside such only.
    """
    facts, points = question.facts, _points_of(evidence, question.metric)
    disks = disks_under(evidence, facts, [*points])
    measured = [_alike(points.get(disk.name, ()), question.metric, own) for disk in disks]
    if measured and all(measured):
        alone = [
            _alone(points[disk.name], alike, question.metric, own)
            for disk, alike in zip(disks, measured, strict=True)
        ]
        disk_levels = [item.level for item in alone]
        served = sum(max(len(disk.servers), 1) for disk in disks)
        interval = disk_levels[0].interval if len(disk_levels) == 1 else None
        is_part = sum(max(len(level.clients), 1) for level in disk_levels) < served
        is_again = any(item.earlier for item in alone)
        return Beneath(
            DISK,
            ", ".join(disk.name for disk in disks),
            sum(level.value for level in disk_levels),
            disk_levels[0].point.tool,
            min(level.n for level in disk_levels),
            tuple(sorted({trial for level in disk_levels for trial in level.trials})),
            interval,
            is_floor=is_part or any(pace.flags_of(level.point) for level in disk_levels),
            is_part=is_part,
            tasks=min(level.tasks for level in disk_levels),
            when=all_of(item.when for item in alone),
            swing=_together(alone),
            earlier=sum(item.earlier or item.level.value for item in alone) if is_again else 0.0,
        )
    if (stated := facts.disk_rates.get(question.metric)) and is_large(own.point, question.metric):
        return Beneath(DISK, facts.name, stated, is_stated=True)
    return None


def disk_unlike(evidence: Evidence, question: Question, own: Level) -> Beneath | None:
    """Return what a disk beneath gave that was measured, but not as a rate beside it; None without one."""
    points, metric = _points_of(evidence, question.metric), question.metric
    disks = disks_under(evidence, question.facts, [*points])
    rest = [points[disk.name] for disk in disks if disk.name in points and not _alike(points[disk.name], metric, own)]
    levels = [
        level_of(point, metric, point.values(metric), point.statistic) for own_points in rest for point in own_points
    ]
    if not levels:
        return None
    nearest = min(levels, key=lambda level: (len(_unlike(level, own)), -level.value))
    is_part = sum(max(len(disk.servers), 1) for disk in disks) > max(len(nearest.clients), 1)
    return Beneath(
        DISK, nearest.point.file_system, nearest.value, nearest.point.tool, nearest.n, nearest.trials,
        nearest.interval, is_floor=is_part or bool(pace.flags_of(nearest.point)), is_part=is_part,
        tasks=nearest.tasks, when=nearest.when, unlike=tuple(_unlike(nearest, own).items()),
    )  # fmt: skip


def _points_of(evidence: Evidence, metric: str) -> dict[str, list[Point]]:
    points: dict[str, list[Point]] = {}
    for original in of_layer(evidence, DISK, metric):
        # What memory gave is no disk's.
        point = pace.uncached(original, metric)
        if point is not None and point.statistic not in (MODE, BELOW):
            points.setdefault(point.file_system, []).append(point)
    return points


def _alike(points: Sequence[Point], metric: str, own: Level) -> list[Level]:
    """Return what a disk gave when it was asked what a rate beside it was: with as many tasks, else with fewer."""
    levels = [level_of(point, metric, point.values(metric), point.statistic) for point in points]
    alike = [level for level in levels if not _unlike(level, own)]
    return [level for level in alike if level.tasks == own.tasks] or alike


def _unlike(level: Level, own: Level) -> dict[str, Any]:
    """Return {name: value} of what a rate was asked for and a disk was not; more tasks may have more of a disk.

    What a publication prints of both its authors set side by side, with however many tasks.
    """
    is_more = level.tasks > own.tasks and PRINTED not in own.point.observed
    tasks = {TASKS: own.tasks} if is_more else {}
    return {**unlike(own.point, level.point, own.metric), **tasks}


def _alone(points: Sequence[Point], alike: Sequence[Level], metric: str, own: Level) -> DiskAlone:
    """Return the best of a disk, with its levels, and what it had at that setting before it was measured again."""
    latest = _right_after(points, own)
    levels = [level for level in alike if level.point in latest]
    best = with_others(max(levels, key=lambda level: level.value), levels)
    swing = best.swing or swing_among([point.values(metric) for point in latest], best.value)
    setting = setting_of(best.point)
    before = [point for point in points if point not in latest and setting_of(point) == setting]
    earlier = max((point.mean(metric) or 0.0 for point in before), default=0.0)
    is_other = bool(earlier) and max(earlier / best.value, best.value / earlier) >= APART
    return DiskAlone(replace(best, swing=swing), when_alike(best, points), earlier if is_other else 0.0)


def _right_after(points: Sequence[Point], own: Level) -> list[Point]:
    """Return the points; of a setting that was measured again after the file system only the first one after it."""
    at = own.when.last
    if at is None:
        return [*points]
    after: dict[str, Point] = {}
    for point in sorted(points, key=lambda point: point.at or 0.0):
        if point.at is not None and point.at > at:
            after.setdefault(setting_of(point), point)
    return [point for point in points if after.get(setting_of(point), point) is point]


def _together(alone: Sequence[DiskAlone]) -> Swing | None:
    """Return the levels of all disks together."""
    if not any(item.level.swing for item in alone):
        return None
    lower = sum(item.level.swing.lower if item.level.swing else item.level.value for item in alone)
    upper = sum(item.level.swing.upper if item.level.swing else item.level.value for item in alone)
    return Swing(lower, upper, sum(item.level.value for item in alone))
