"""The rate over time, from the logs that fio writes into its work folder."""

import itertools
import re
from collections import defaultdict
from collections.abc import Sequence

from apps.bench.toolkit import Output, SampleSeries
from apps.bench.tools._storage.window import Course

KIB = 1024
_LINE = re.compile(rb"^(\d{1,12}), (\d{1,15}), ([012]),", re.M)
_METRICS = {b"0": "read", b"1": "write"}


def names(jobs: int) -> tuple[str, ...]:
    """Return the names of the logs of so many jobs."""
    return tuple(f"fio_bw.{number}.log" for number in range(1, jobs + 1))


def course_of(output: Output, metric: str, begun: float, end: float, amount: float) -> Course:
    """Return (server time, B moved) of a client's jobs together, from when they began; () without their logs.

    Each entry is the mean rate since the one before it; what the last ones leave out was moved until the end.
    """
    grown: dict[float, float] = defaultdict(float)
    for data in _logs_of([output]):
        before: dict[bytes, int] = {}
        for time_ms, rate, way in _LINE.findall(data):
            if metric in ("rate", _METRICS.get(way)):
                grown[int(time_ms) / 1000] += int(rate) * KIB * (int(time_ms) - before.get(way, 0)) / 1000
                before[way] = int(time_ms)
    moments = sorted(moment for moment in grown if begun + moment < end)
    totals = itertools.accumulate(grown[moment] for moment in moments)
    course = tuple((begun + moment, total) for moment, total in zip(moments, totals, strict=True))
    return ((begun, 0.0), *course, (end, max(amount, course[-1][1]))) if course else ()


def _logs_of(outputs: Sequence[Output]) -> list[bytes]:
    return [
        data for output in outputs for name, data in sorted(output.collected.items()) if name.startswith("fio_bw.")
    ]


def read_series(outputs: Sequence[Output], interval_s: float) -> tuple[SampleSeries, ...]:
    """Return the rates of all jobs of all clients together; a moment that one of them did not log is left out."""
    logs = _logs_of(outputs)
    sums: dict[str, dict[int, float]] = {"rate": defaultdict(float), "read": {}, "write": {}}
    jobs_by_moment: dict[int, set[int]] = defaultdict(set)
    for index, data in enumerate(logs):
        for time_ms, rate, way in _LINE.findall(data):
            moment = round(int(time_ms) / 1000 / interval_s)
            metric = _METRICS.get(way)
            if not moment or metric is None:
                continue
            jobs_by_moment[moment].add(index)
            for name in ("rate", metric):
                sums[name][moment] = sums[name].get(moment, 0.0) + int(rate) * KIB
    moments = sorted(moment for moment, jobs in jobs_by_moment.items() if len(jobs) == len(logs))
    return tuple(
        SampleSeries(
            name,
            "sum",
            "B/s",
            tuple(round(moment * interval_s, 3) for moment in moments),
            tuple(values.get(moment, 0.0) for moment in moments),
        )
        for name, values in sums.items()
        if moments and any(values.get(moment) for moment in moments)
    )
