"""What fio reports of the data it moved, from JSON, terse lines or plain text."""

import dataclasses
import itertools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.bench.outputs import texts
from apps.bench.outputs.documents import Damaged, dig, first_object, line_objects, number, objects
from apps.bench.toolkit import Output
from apps.bench.tools._fio import argv, pacing, sizes, snapshots
from apps.bench.tools._fio import text as plain
from apps.bench.tools._fio.figures import FioJob, FioRefused, FioWay, of_group

WAYS = ("read", "write")
# Rates are rounded, times are in whole milliseconds.
TOLERANCE = 0.01
# By so much (s) the time between two reports of a run may differ from what its jobs counted meanwhile.
CLOCK_S = 0.2
# Values of unified_rw_reporting with which reads and writes are counted together.
_MIXED = ("mixed", "1")


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


def read_report(output: Output) -> FioReport | None:
    """Return the last report of the run in an output, None if there is none; FioRefused if it cannot be relied on."""
    text, command = texts.read_text(output), argv.read_command(output.argv)
    data = _last_document(text)
    if data is not None:
        return _from_json(data)
    if lines := plain.terse_lines(text):
        # Terse lines have both ways in the place of reads.
        if command.union.get("unified_rw_reporting", "") in _MIXED:
            raise FioRefused("ways-together", said="--unified_rw_reporting")
        kinds = {tuple(line[:2]) for line in lines}
        if len(kinds) > 1:
            raise FioRefused("several-results", n=len(kinds))
        return _from_parts(_last(plain.read_terse(lines), command), plain.terse_version(lines))
    if jobs := _last(plain.read_jobs(text, sizes.base_of(command.union)), command):
        report = _from_parts(jobs, plain.version_in(text))
        return dataclasses.replace(report, printed=plain.options_in(text, jobs))
    return None


def is_later(earlier: Any, later: Any) -> bool:
    """Return whether a JSON report is a later one of the run of another, which began when that did and went on."""
    try:
        before, after = _jobs(earlier), _jobs(later)
    except FioRefused:
        return False
    if not before or len(before) != len(after) or _given(earlier) != _given(later):
        return False
    if not all(map(snapshots.goes_on, before, after)):
        return False
    passed = _printed_at(later) - _printed_at(earlier)
    grown = max(_longest(after) - _longest(before), 0.0)
    # Jobs that have ended count no more time.
    return abs(passed - grown) <= CLOCK_S or (passed > 0 and grown == 0 and before == after)


def _last(jobs: Iterable[FioJob], command: argv.CommandLine) -> list[FioJob]:
    """Return the jobs of the last report of a text."""
    return snapshots.last_report(list(jobs), command.entries, is_asked="status-interval" in command.union)


def _last_document(text: str) -> Any:
    """Return the last JSON report of a run (messages stand before it), or None; FioRefused if there are several."""
    try:
        documents = [item for item in line_objects(text) if "fio version" in item]
        if not documents:
            return first_object(text, on_a_new_line=True)
    except Damaged:
        raise FioRefused from None
    runs = 1 + sum(not is_later(*pair) for pair in itertools.pairwise(documents))
    if runs > 1:
        raise FioRefused("several-results", n=runs)
    return documents[-1]


def _given(data: Any) -> list[dict[str, str]]:
    """Return the options that all jobs of a report were given, and those that each was."""
    common = _options(dig(data, "global options"), {})
    return [common, *(_options(job.get("job options"), common) for job in objects(dig(data, "jobs")))]


def _printed_at(data: Any) -> float:
    """Return when a report was printed (s)."""
    millis = number(data, "timestamp_ms")
    return millis / 1000 if millis is not None else number(data, "timestamp") or 0.0


def _longest(jobs: Iterable[FioJob]) -> float:
    return max(way.seconds for job in jobs for way in job.ways.values())


def _jobs(data: Any) -> list[FioJob]:
    """Return the jobs of a JSON report, which has as many entries of a name as it has processes."""
    return [
        FioJob(
            round(number(job, "error") or 0),
            str(number(job, "groupid") or 0),
            ways={way: _way(job, way) for way in WAYS},
            name=str(job.get("jobname", "")),
        )
        for job in objects(dig(data, "jobs"))
    ]


def _from_json(data: Any) -> FioReport:
    jobs, version = _jobs(data), dig(data, "fio version")
    if not jobs or not isinstance(version, str):
        raise FioRefused
    report = _from_parts(jobs, _version(version))
    common, *each = _given(data)
    # What only one of the jobs was limited by limits what they have together.
    limits = {name: text for own in each for name, text in own.items() if name in pacing.OPTIONS}
    options = {**limits, **common, **each[0]}
    # Processes of one job are an entry each, of the same name, unless they are reported together.
    by_name = {own.get("name", ""): {**common, **own} for own in each}
    if options and len(by_name) > 1:
        options["numjobs"] = str(max(argv.processes(list(by_name.values())), len(each)))
    return dataclasses.replace(report, options=options, unlike=argv.unlike(each))


def _from_parts(jobs: Iterable[FioJob], version: str) -> FioReport:
    every = list(jobs)
    _refuse_groups(job.group for job in every)
    error = next((job.error for job in every if job.error), 0)
    return FioReport({way: of_group(_checked(job.ways[way]) for job in every) for way in WAYS}, version, error)


def _refuse_groups(groups: Iterable[str]) -> None:
    """Refuse jobs that are not all of one group: groups ran in turn (stonewall), or are told apart."""
    names = set(groups)
    if len(names) > 1:
        raise FioRefused("several-results", n=len(names))


def _way(job: Any, way: str) -> FioWay:
    if way not in job and "mixed" in job:
        raise FioRefused("ways-together", said="mixed")
    size, rate, iops, runtime = (number(job, way, key) for key in ("io_bytes", "bw_bytes", "iops", "runtime"))
    operations = number(job, way, "total_ios")
    if size is None or rate is None or iops is None or runtime is None or operations is None:
        raise FioRefused
    mean, maximum = (number(job, way, "lat_ns", key) for key in ("mean", "max"))
    tail = number(job, way, "clat_ns", "percentile", "99.000000")
    times = (_seconds(value) for value in (mean, tail, maximum))
    return FioWay(size, runtime / 1000, rate, iops, operations, *times)


def _seconds(nanoseconds: float | None) -> float | None:
    return nanoseconds / 1e9 if nanoseconds else None


def _options(value: Any, common: Mapping[str, str]) -> dict[str, str]:
    """Return options, amounts as plain numbers; of a job file fio itself puts first what the others go by."""
    options: dict[str, str] = {}
    for name, text in value.items() if isinstance(value, dict) else ():
        if isinstance(text, str) and text.isprintable():
            options[name] = sizes.plain(name, text, {**common, **options})
    return options


def _version(text: str) -> str:
    match = re.fullmatch(r"fio-(\d[\w.+-]{0,40})", text, re.ASCII)
    return match[1] if match else ""


def _checked(way: FioWay) -> FioWay:
    """Return what was moved one way; FioRefused if rate, bytes and time do not belong together."""
    if not all(math.isfinite(value) for value in way if value is not None):
        raise FioRefused
    computed = way.size / way.seconds if way.seconds else 0.0
    tolerance = TOLERANCE + (0.001 / way.seconds if way.seconds else 0.0)
    if not math.isclose(way.rate, computed, rel_tol=tolerance, abs_tol=1024):
        raise FioRefused("contradictory", first=f"{way.rate:.6g}", second=f"{computed:.6g}")
    return way
