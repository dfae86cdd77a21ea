"""What the disks of a file system's servers give alone: with files as its own, and when it was measured itself."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from apps.bench.rules import pace
from apps.bench.rules.base import BELOW, DISK, MODE, Evidence, Point
from apps.bench.rules.layers.again import setting_of, when_alike, with_others
from apps.bench.rules.layers.beneath import Beneath
from apps.bench.rules.layers.days import When, all_of
from apps.bench.rules.layers.disks import disks_under
from apps.bench.rules.layers.questions import Level, Question, level_of, of_layer
from apps.bench.rules.layers.swings import APART, Swing, swing_among
from apps.bench.rules.shapes import RECORD, described


class DiskAlone(NamedTuple):
    """The best that one disk gave, when that was met, and what it had at that setting earlier (B/s, or 0)."""

    level: Level
    when: When
    earlier: float = 0.0


def disk_beneath(evidence: Evidence, question: Question, own: Level) -> Beneath | None:
    """Return what the disks of the servers give alone beside a rate: measured if they were, else as stated."""
    facts = question.facts
    points: dict[str, list[Point]] = {}
    for point in of_layer(evidence, DISK, question.metric):
        if point.statistic not in (MODE, BELOW):
            points.setdefault(point.file_system, []).append(point)
    disks = disks_under(evidence, facts, [*points])
    if disks and all(disk.name in points for disk in disks):
        alone = [_alone(points[disk.name], evidence, question.metric, own) for disk in disks]
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
    if stated := facts.disk_rates.get(question.metric):
        return Beneath(DISK, facts.name, stated, is_stated=True)
    return None


def _alone(points: Sequence[Point], evidence: Evidence, metric: str, own: Level) -> DiskAlone:
    """Return the best of a disk, with its levels, and what it had at that setting before it was measured again."""
    latest = _right_after(points, own)
    levels = [level_of(point, metric, point.values(metric), point.statistic) for point in latest]
    best = with_others(max(levels, key=lambda level: level.value), levels)
    alike = [level.value for level in levels if _is_alike(level, own, evidence)]
    swing = best.swing or swing_among([point.values(metric) for point in latest], best.value)
    if alike and best.value >= APART * max(alike):
        # With files as the file system's own it gave less than with others, or by then.
        least = min(max(alike), swing.lower if swing else best.value)
        swing = Swing(least, swing.upper if swing else best.value, best.value)
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


def _is_alike(level: Level, own: Level, evidence: Evidence) -> bool:
    """Return whether a disk was measured with the records and the number of tasks of the file system."""
    records = (described(item.point, evidence).get(RECORD) for item in (level, own))
    return len({*records}) == 1 and level.tasks == own.tasks


def _together(alone: Sequence[DiskAlone]) -> Swing | None:
    """Return the levels of all disks together."""
    if not any(item.level.swing for item in alone):
        return None
    lower = sum(item.level.swing.lower if item.level.swing else item.level.value for item in alone)
    upper = sum(item.level.swing.upper if item.level.swing else item.level.value for item in alone)
    return Swing(lower, upper, sum(item.level.value for item in alone))
