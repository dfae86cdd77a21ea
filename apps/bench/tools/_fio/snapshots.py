"""Reports of a run that goes on (--status-interval, SIGUSR1): each counts from the start and replaces the last."""

from collections.abc import Sequence
from itertools import pairwise

from apps.bench.tools._fio.figures import FioJob, FioRefused, FioWay

# Terse lines have whole KiB.
_STEP = 1024
# Two jobs that end together differ by so much (s, and as a share) in their times, two reports of one by more.
_TOGETHER_S, _TOGETHER = 0.05, 0.01
# In so short a time one job moves no more than this times its mean rate; times are in whole milliseconds.
_FASTEST, _TICK_S = 5, 0.001


def goes_on(earlier: FioJob, later: FioJob) -> bool:
    """Return whether a later report may be of the same job: no count is less, none more than it could have moved."""
    if (earlier.name, earlier.group, earlier.pid) != (later.name, later.group, later.pid):
        return False
    return all(_grew(earlier.ways[way], later.ways[way], later.rounding) for way in earlier.ways)


def last_report(jobs: Sequence[FioJob], expected: int | None, *, is_asked: bool) -> list[FioJob]:
    """Return the jobs of the last of the reports that a text holds one after the other, all jobs if it holds one.

    `expected` is how many jobs a report has, if that is known; `is_asked` says that there are several reports. Jobs
    of one name whose process no line tells are those of an earlier report if their counts go on from it.
    FioRefused if reports cannot be told from jobs.
    """
    keys = [(job.name, job.group, job.pid) for job in jobs]
    if all(job.pid for job in jobs):
        latest: dict[tuple[str, str, str], FioJob] = {}
        for key, job in zip(keys, jobs, strict=True):
            if key in latest and not goes_on(latest[key], job):
                raise FioRefused("reports-or-jobs", n=len(jobs), said=job.name)
            latest[key] = job
        return list(latest.values())
    if len(jobs) == expected or len(set(keys)) == len(jobs):
        return list(jobs)
    width = next((width for width in _widths(len(jobs), expected) if _are_reports(jobs, width)), 0)
    if width and _is_clear(jobs, width):
        return list(jobs[-width:])
    if width or is_asked or expected:
        raise FioRefused("reports-or-jobs", n=len(jobs), said=jobs[0].name)
    return list(jobs)


def _widths(total: int, expected: int | None) -> list[int]:
    return [width for width in range(1, total // 2 + 1) if not total % width and width == (expected or width)]


def _are_reports(jobs: Sequence[FioJob], width: int) -> bool:
    """Return whether so many jobs may be a report each time; of jobs that were to move one amount all moved it."""
    first, last = ([job.ways for job in part] for part in (jobs[:width], jobs[-width:]))
    moved_since = any(
        later[way].size > earlier[way].size for earlier, later in zip(first, last, strict=True) for way in later
    )
    return moved_since and all(goes_on(*pair) for pair in zip(jobs, jobs[width:], strict=False))


def _is_clear(jobs: Sequence[FioJob], width: int) -> bool:
    """Return whether time has passed between two reports: jobs that began and ended together were alike in it."""
    reports = [jobs[start : start + width] for start in range(0, len(jobs), width)]
    times = [max(way.seconds for job in report for way in job.ways.values()) for report in reports]
    return any(not _end_together(earlier, later) for earlier, later in pairwise(times))


def _end_together(earlier: float, later: float) -> bool:
    return later - earlier <= _TOGETHER_S + _TOGETHER * later


def _grew(earlier: FioWay, later: FioWay, rounding: float) -> bool:
    if later.seconds < earlier.seconds or later.size < earlier.size * (1 - rounding):
        return False
    if earlier.most and later.most and later.most < earlier.most * (1 - rounding):
        return False
    if not _end_together(earlier.seconds, later.seconds):
        return True
    moved = (later.seconds - earlier.seconds + _TICK_S) * max(earlier.rate, later.rate) * _FASTEST
    return later.size - earlier.size <= moved + rounding * later.size + _STEP
