"""IOzone: how fast files are written and read, sequentially and otherwise, by one client or several."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.bench.outputs import pacing, texts
from apps.bench.outputs.failures import failure
from apps.bench.text import Message, _
from apps.bench.toolkit import (
    FILE_SERVER,
    Command,
    Flag,
    NodeRef,
    Output,
    Params,
    Plan,
    Reading,
    SampleValue,
    Stage,
    Tool,
    TrialEstimate,
    Value,
)
from apps.bench.tools._iozone import errors, workbook
from apps.bench.tools._iozone.options import METRICS, PARAMETERS, TESTS, Test
from apps.bench.tools._iozone.passes import passes_of
from apps.bench.tools._iozone.recovery import recover
from apps.bench.tools._iozone.report import (
    KIB,
    OPENING,
    RETESTS,
    SIGNATURES,
    IozonePoint,
    IozoneReport,
    IozoneUnreadable,
    read_report,
    seconds_of,
)
from apps.bench.tools._storage import caches, clients, places

# A rate (B/s) for guessing how long a measurement will take; what a disk or 1 Gbit/s gives.
GUESSED_RATE = 100e6
_THINKS = re.compile(r"^\s*>>> Think time is included in throughput", re.M)


class Iozone(Tool):
    """IOzone on one client or several."""

    slug = "iozone"
    name = "IOzone"
    summary = _("Rates of writing and reading files: sequential, random, backward and strided.")
    programs = ("iozone", places.CHECK_PROGRAM, places.CLEAN_PROGRAM, *caches.PROGRAMS)
    group = "storage"
    file_system = "required"
    opening = OPENING
    signatures = SIGNATURES
    roles = clients.ROLES
    parameters = PARAMETERS
    metrics = METRICS

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse sizes that IOzone would cut, and records larger than the file, which give rates of zero."""
        errors = places.check_folder(params)
        file_size, record_size = params["file_size"], params["record_size"]
        if record_size % KIB:
            errors["record_size"] = Message(_("Give whole KiB: IOzone counts in these."))
        elif file_size % record_size:
            errors["file_size"] = Message(_("Give a multiple of the record size: IOzone drops what is left over."))
        return errors

    def check_cast(self, params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
        """Refuse more clients than there are nodes."""
        return clients.check_cast(params, counts)

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return a stage for each test, in which all clients start at one instant."""
        players = clients.chosen(params, nodes)
        stages = [places.check_stage(players, params)]
        tests = _tests(params)
        for test in tests:
            files = [
                _files(node, _owner(test, index, len(players), params), params) for index, node in enumerate(players)
            ]
            commands = [
                Command(
                    role=clients.CLIENT,
                    node_index=index,
                    argv=_argv(test, params, own, keep=test is not tests[-1]),
                    time_limit_s=params["time_limit"],
                )
                for index, own in enumerate(files)
            ]
            if test.name != "write" and params["drop_cache"] and not params["direct"]:
                stages += caches.stages(test.name, files)
            if test.name != "write" and params["drop_cache"]:
                stages += caches.server_stages(test.name, files, players, nodes.get(FILE_SERVER, ()))
            stages.append(Stage(test.name, tuple(commands), together=len(players) > 1))
        stages.append(places.clean_stage([_files(node, index, params) for index, node in enumerate(players)]))
        return Plan(tuple(stages))

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return a guess of the time; the traffic to the file system's servers is on no path between the roles."""
        passes = sum(len(_expected(test, params)) for test in _tests(params))
        rate = min(GUESSED_RATE, capacity_bps / 8) if capacity_bps else GUESSED_RATE
        seconds = passes * params["file_size"] * params["threads"] / rate
        return TrialEstimate(min(seconds, params["time_limit"] * len(_tests(params))) + 1.0)

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the clients' rates added up; ToolFailure for anything but a report of every test asked for."""
        where = places.read_places(outputs, params)
        own = [output for output in places.own_outputs(outputs) if not caches.is_ours(output)]
        if not own:
            raise failure("not-run", None, role=clients.CLIENT)
        needed = params["file_size"] * params["threads"]
        by_stage: dict[str, list[tuple[clients.ClientRates, IozoneReport]]] = {}
        for output in own:
            report = _read(output, params, where, needed)
            point = report.points[-1]
            share = clients.ClientRates(output, report.rates(point), passes_of(output, report, point, params))
            by_stage.setdefault(output.stage, []).append((share, report))
        _require_tests(by_stage, params)
        stages = [clients.settled([share for share, _report in pairs]) for pairs in by_stage.values()]
        reports = [report for pairs in by_stage.values() for _share, report in pairs]
        totals = clients.total(stages)
        primary = next((shares for shares in stages if "write" in shares[0].rates), stages[0])
        first = next(iter(primary[0].rates), "")
        fairness = clients.fairness([share.rates.get(first, 0.0) for share in primary])
        samples = totals | ({"fairness": fairness} if fairness is not None else {})
        return Reading(
            samples=tuple(SampleValue(metric, value) for metric, value in samples.items()),
            requested=dict(params),
            granted={"direct": any(report.direct for report in reports)},
            observed=_observed(reports, clients.seconds_of(stages))
            | {"uncached": _uncached(outputs, params, len(primary)), "freed": _freed(outputs)}
            | clients.observed_of(stages)
            | places.observed_of(where),
            flags=(
                *places.flags_of(where, outputs),
                *clients.flags_of(stages, params),
                *_flags(reports),
                *_compute_flags(own),
            ),
            tool_version=next((report.version for report in reports if report.version), ""),
        )

    def recognises(self, output: Output) -> bool:
        """Return whether an output is a report of IOzone's, or the workbook that it writes."""
        return workbook.is_workbook(output.stdout) or super().recognises(output)

    def recover(self, output: Output) -> dict[str, Value]:
        """Return the parameters that a report was made with."""
        return recover(self, output)


def _tests(params: Params) -> list[Test]:
    return [test for test in TESTS if test.name == "write" or params[test.name]]


def _expected(test: Test, params: Params) -> tuple[str, ...]:
    return tuple(metric for metric in test.metrics if params["retest"] or metric not in RETESTS)


def _owner(test: Test, index: int, count: int, params: Params) -> int:
    """Return whose files a client uses in a test."""
    return (index + 1) % count if params["neighbour"] and test.name != "write" else index


def _files(node: NodeRef, owner: int, params: Params) -> list[str]:
    return [places.path_of(node, params, f"iozone-{owner}.{thread}") for thread in range(params["threads"])]


def _argv(test: Test, params: Params, files: Sequence[str], *, keep: bool) -> tuple[str, ...]:
    """Return a command with fsync and close in its times (-e -c); with `keep` its files stay for later tests (-w)."""
    argv = ["iozone", "-e", "-c", *(["-w"] if keep else [])]
    argv += [option for name, option in (("direct", "-I"), ("sync", "-o")) if params[name]]
    if not params["retest"]:
        argv.append("-+n")
    argv += ["-r", f"{params['record_size'] // KIB}k", "-s", f"{params['file_size'] // KIB}k", "-i", test.number]
    if test.name == "strided":
        argv += ["-j", str(params["stride"])]
    if params["threads"] > 1:
        return (*argv, "-t", str(params["threads"]), "-F", *files)
    return (*argv, "-f", *files)


def _read(output: Output, params: Params, where: Sequence[places.FileSystemPlace], needed: int) -> IozoneReport:
    text = texts.read_text(output)
    problem = None if workbook.is_workbook(output.stdout) else errors.explain(output, text, direct=params["direct"])
    if problem:
        short = places.without_room(where, needed) if problem.code == "write-stopped" else None
        raise failure("too-little-room", output, free=short.free, wanted=needed) if short else problem
    texts.refuse_cut_short(output)
    try:
        report = workbook.read_workbook(output.stdout) if workbook.is_workbook(output.stdout) else read_report(text)
    except IozoneUnreadable:
        raise failure("unreadable", output) from None
    if report.has_others:
        raise failure("several-results", output, n=2)
    if not report.points:
        raise failure("unreadable", output) if report.has_banner else texts.no_result(output, text)
    if report.has_banner and not report.is_whole:
        raise failure("unreadable", output)
    for metric, value in report.points[-1].figures.items():
        # Without retests their columns hold 0.
        if not value and not report.points[-1].figures.get(RETESTS.get(metric, "")):
            raise failure("nothing-moved", output, said=metric)
    if not report.rates(report.points[-1]):
        raise failure("unreadable", output)
    return report


def _require_tests(
    by_stage: Mapping[str, Sequence[tuple[clients.ClientRates, IozoneReport]]], params: Params
) -> None:
    """Raise the failure of a stage of ours in whose reports a test is missing; an archive has other stages."""
    for test in _tests(params):
        for share, _report in by_stage.get(test.name, ()):
            missing = [metric for metric in _expected(test, params) if metric not in share.rates]
            if missing:
                raise failure("tests-missing", share.output, missing=", ".join(missing))


def _uncached(outputs: Sequence[Output], params: Params, count: int) -> list[str]:
    """Return the metrics of what was read past an empty cache: the first reading of each test."""
    metrics = [test.metrics[0] for test in TESTS if caches.is_empty(outputs, test.name)]
    if params["neighbour"] and count > 1 and "read" not in metrics:
        metrics.append("read")
    return metrics


def _freed(outputs: Sequence[Output]) -> list[str]:
    """Return the metrics of what was read when the server's cache was free of it: the first reading of each test."""
    return [test.metrics[0] for test in TESTS if caches.freed_before(outputs, test.name)]


def _observed(reports: Sequence[IozoneReport], together: Mapping[str, float]) -> dict[str, Any]:
    """Return what validity is judged by (sizes in B, times in s), and all points of a report of several.

    `together` {metric: time (s)} are those measured over the time in which all clients ran.
    """
    last = [report.points[-1] for report in reports]
    seconds: dict[str, float] = {}
    for report, point in zip(reports, last, strict=True):
        for metric, value in seconds_of(point, report.rates(point)).items():
            seconds[metric] = min(value, seconds.get(metric, value))
    seconds |= together
    observed: dict[str, Any] = {"threads": max(point.processes for point in last), "measured_s": seconds}
    if all(point.file_size for point in last) and not any(report.is_spread for report in reports):
        observed["working_set"] = max(point.file_size * point.processes for point in last)
    if all(report.has_banner for report in reports):
        observed["direct_io"] = all(report.direct for report in reports)
        observed["synced"] = all(report.fsync for report in reports)
    points = [(report, point) for report in reports for point in report.points]
    if len(points) > len(reports):
        observed["points"] = [_point(report, point) for report, point in points]
    return observed


def _point(report: IozoneReport, point: IozonePoint) -> dict[str, Any]:
    sizes = {"file_size": point.file_size, "record_size": point.record_size, "threads": point.processes}
    return sizes | report.rates(point)


def _compute_flags(own: Sequence[Output]) -> list[Flag]:
    """Say that the rates are of threads that also computed (-+J), which sets the pace of their reads and writes."""
    return pacing.paused_flags("-+J") if any(_THINKS.search(texts.read_text(output)) for output in own) else []


def _flags(reports: Sequence[IozoneReport]) -> list[Flag]:
    flags = []
    if any(report.is_verified for report in reports):
        text = _(
            "The program compared what it read with what it wrote (-V), and says that its rates are invalid then."
        )
        flags.append(Flag("verified", "invalid", Message(text)))
    if any(len(report.points) > 1 for report in reports):
        text = _("The report holds %(n)s points; the figures are those of the last, the others are kept beside them.")
        flags.append(Flag("several-points", "info", Message(text, {"n": max(len(r.points) for r in reports)})))
    if not all(report.has_banner for report in reports):
        text = _("Only a part of the report is here: whether the program ended well is not known.")
        flags.append(Flag("excerpt", "info", Message(text)))
    if any(report.unit != "rate" for report in reports):
        text = _("The program reported operations or times of whole numbers: rates are computed from these.")
        flags.append(Flag("rates-computed", "info", Message(text)))
    idle = sorted({metric for report in reports for metric, value in report.points[-1].least.items() if not value})
    if idle:
        text = _("Some threads had not begun when others had done all: %(tests)s.")
        flags.append(Flag("threads-idle", "invalid", Message(text, {"tests": ", ".join(idle)}), tuple(idle)))
    return flags
