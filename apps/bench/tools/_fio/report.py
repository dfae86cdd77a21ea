"""What fio reports of the data it moved, from JSON, terse lines or plain text."""

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.bench.outputs.documents import Damaged, dig, first_object, number, objects
from apps.bench.tools._fio import pacing
from apps.bench.tools._fio import text as plain
from apps.bench.tools._fio.figures import FioUnreadable, FioWay, of_group

WAYS = ("read", "write")
# Rates are rounded, times are in whole milliseconds.
TOLERANCE = 0.01


class SeveralGroups(Exception):
    """A report of several groups of jobs, which ran in turn (stonewall) or are told apart: not of one measurement."""


class Contradiction(Exception):
    """A report whose rate is not its bytes over its time."""


@dataclass(frozen=True)
class FioReport:
    """What was moved each way by all jobs together; `error` is the first job's errno that is not 0."""

    ways: Mapping[str, FioWay]
    version: str
    error: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    # Of text, which prints but some of what its jobs were given; of several that are not alike, what they share.
    printed: Mapping[str, str] = field(default_factory=dict)
    # Options that were given to the jobs, and not the same to each.
    unlike: frozenset[str] = frozenset()


def read_report(text: str) -> FioReport | None:
    """Return the report in a text, None if there is none; Unreadable or Contradiction if it cannot be relied on."""
    data = _load(text)
    if data is not None:
        return _from_json(data)
    if lines := plain.terse_lines(text):
        return _from_parts(plain.read_terse(lines), plain.terse_version(lines))
    if jobs := plain.read_jobs(text):
        report = _from_parts(jobs, plain.version_in(text))
        return dataclasses.replace(report, printed=plain.options_in(text, jobs))
    return None


def _load(text: str) -> Any:
    """Return the first JSON object that begins a line (messages stand before it), or None."""
    try:
        return first_object(text, on_a_new_line=True)
    except Damaged:
        raise FioUnreadable from None


def _from_json(data: Any) -> FioReport:
    jobs = objects(dig(data, "jobs"))
    version = dig(data, "fio version")
    if not jobs or not isinstance(version, str):
        raise FioUnreadable
    errors = [round(code) for job in jobs if (code := number(job, "error"))]
    _refuse_groups(str(number(job, "groupid") or 0) for job in jobs)
    each = [_options(job.get("job options")) for job in jobs]
    # What only one of the jobs was limited by limits what they have together.
    limits = {name: text for own in each for name, text in own.items() if name in pacing.OPTIONS}
    options = {**limits, **_options(dig(data, "global options")), **each[0]}
    unlike = frozenset(name for own in each for name in own if any(other.get(name) != own[name] for other in each))
    ways = {way: of_group(_way(job, way) for job in jobs) for way in WAYS}
    return FioReport(ways, _version(version), errors[0] if errors else 0, options, unlike=unlike - {"name"})


def _from_parts(jobs: Iterable[plain.FioJob], version: str) -> FioReport:
    every = list(jobs)
    _refuse_groups(job.group for job in every)
    error = next((job.error for job in every if job.error), 0)
    return FioReport({way: of_group(_checked(job.ways[way]) for job in every) for way in WAYS}, version, error)


def _refuse_groups(groups: Iterable[str]) -> None:
    """Raise SeveralGroups, with their number, unless all jobs are of one."""
    names = set(groups)
    if len(names) > 1:
        raise SeveralGroups(len(names))


def _way(job: Any, way: str) -> FioWay:
    size, rate, iops, runtime = (number(job, way, key) for key in ("io_bytes", "bw_bytes", "iops", "runtime"))
    operations = number(job, way, "total_ios")
    if size is None or rate is None or iops is None or runtime is None or operations is None:
        raise FioUnreadable
    mean, maximum = (number(job, way, "lat_ns", key) for key in ("mean", "max"))
    tail = number(job, way, "clat_ns", "percentile", "99.000000")
    times = (_seconds(value) for value in (mean, tail, maximum))
    return _checked(FioWay(size, runtime / 1000, rate, iops, operations, *times))


def _seconds(nanoseconds: float | None) -> float | None:
    return nanoseconds / 1e9 if nanoseconds else None


def _options(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in value.items() if isinstance(text, str) and text.isprintable()}


def _version(text: str) -> str:
    match = re.fullmatch(r"fio-(\d[\w.+-]{0,40})", text, re.ASCII)
    return match[1] if match else ""


def _checked(way: FioWay) -> FioWay:
    """Return what was moved one way; Contradiction if rate, bytes and time do not belong together."""
    if not all(math.isfinite(value) for value in way if value is not None):
        raise FioUnreadable
    computed = way.size / way.seconds if way.seconds else 0.0
    tolerance = TOLERANCE + (0.001 / way.seconds if way.seconds else 0.0)
    if not math.isclose(way.rate, computed, rel_tol=tolerance, abs_tol=1024):
        raise Contradiction(f"{way.rate:.6g}", f"{computed:.6g}")
    return way
