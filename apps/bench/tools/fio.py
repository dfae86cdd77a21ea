"""fio: rates, operations and latencies of reading and writing files by block size, depth and pattern."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from apps.bench.outputs import texts
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
from apps.bench.tools._fio import errors, logs, options, pacing
from apps.bench.tools._fio.figures import FioRefused, FioWay, add_up
from apps.bench.tools._fio.passes import passes_of
from apps.bench.tools._fio.recovery import recover, size_of
from apps.bench.tools._fio.report import WAYS, FioReport, is_later, read_report
from apps.bench.tools._storage import caches, clients, places

PREPARE, MEASURE = "prepare", "measure"
# A rate (B/s) for guessing how long it takes to lay out files, or to go over them once.
GUESSED_RATE = 100e6
_LAYS_OUT = re.compile(r"^[^\n]{1,200}: Laying out IO files?", re.M)


class ClientReport(NamedTuple):
    """A client's output and the report in it."""

    output: Output
    report: FioReport

    def share(self, params: Params) -> clients.ClientRates:
        """Return the figures that add up over the clients."""
        rates = {"rate": sum(way.rate for way in self.report.ways.values())}
        for name, way in self.report.ways.items():
            rates |= {name: way.rate, f"{name}_iops": way.iops} if way.operations else {}
        return clients.ClientRates(self.output, rates, passes_of(self.output, self.report, params))


class Fio(Tool):
    """fio on one client or several."""

    slug = "fio"
    name = "fio"
    summary = _("Rates, operations and latencies of reading and writing files, in order, at random or mixed.")
    programs = ("fio", places.CHECK_PROGRAM, places.CLEAN_PROGRAM)
    group = "storage"
    file_system = "required"
    opening = re.compile(r"^fio-\d[\w.+-]*$", re.M | re.A)
    signatures = (
        re.compile(r'"fio version" ?: ?"fio-'),
        re.compile(r"^[345];fio-\d", re.M | re.A),
        re.compile(r"^fio-\d[\w.+-]*$", re.M | re.A),
        re.compile(r"^fio: (?:unrecognized option|engine|pid=|io_u error|file:|failed)", re.M),
    )
    roles = clients.ROLES
    parameters = options.PARAMETERS
    metrics = options.METRICS

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse what fio would silently not do."""
        return options.check(params)

    def check_cast(self, params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
        """Refuse more clients than there are nodes."""
        return clients.check_cast(params, counts)

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return the check of the mounts, the laying out of files to read, and the measurement at one instant."""
        players = clients.chosen(params, nodes)
        stages = [places.check_stage(players, params)]
        if options.reads_files(params):
            commands = [
                Command(
                    role=clients.CLIENT,
                    node_index=index,
                    argv=options.prepare_argv(node, index, params),
                    time_limit_s=params["time_limit"],
                    measures=False,
                )
                for index, node in enumerate(players)
            ]
            stages.append(Stage(PREPARE, tuple(commands)))
            files = [options.paths(node, index, params) for index, node in enumerate(players)]
            stages += caches.server_stages(MEASURE, files, players, nodes.get(FILE_SERVER, ()))
        measure = [
            Command(
                role=clients.CLIENT,
                node_index=index,
                argv=options.measure_argv(node, index, params),
                time_limit_s=options.time_limit_s(params),
                collect=options.collected(params),
            )
            for index, node in enumerate(players)
        ]
        stages.append(Stage(MEASURE, tuple(measure), together=len(players) > 1))
        stages.append(places.clean_stage([options.paths(node, index, params) for index, node in enumerate(players)]))
        return Plan(tuple(stages))

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time set, and a guess of what it takes to lay the files out or to go over them once."""
        rate = min(GUESSED_RATE, capacity_bps / 8) if capacity_bps else GUESSED_RATE
        once = params["file_size"] * params["jobs"] / rate
        laying = once if options.reads_files(params) else 0.0
        measuring = (
            params["duration"] + params["ramp"] if params["duration"] else once * (2 if params["verify"] else 1)
        )
        return TrialEstimate(laying + measuring + 2.0)

    def is_later(self, earlier: Any, later: Any) -> bool:
        """Return whether a report is a later one of the same run (--status-interval, SIGUSR1)."""
        return is_later(earlier, later)

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the clients' figures together; ToolFailure for anything but a report without errors."""
        where = places.read_places(outputs, params)
        own = [output for output in places.own_outputs(outputs) if not caches.is_ours(output)]
        needed = params["file_size"] * params["jobs"]
        for output in own:
            if output.stage == PREPARE:
                _read(output, params, where, needed)
        readings = [
            ClientReport(output, _read(output, params, where, needed)) for output in own if output.stage != PREPARE
        ]
        if not readings:
            raise failure("not-run", None, role=clients.CLIENT)
        for each in readings:
            _require_something(each, params, is_ours=bool(where))
        ways = {name: add_up(each.report.ways[name] for each in readings) for name in WAYS}
        verified = ways["read"].size if params["verify"] else None
        if verified is not None:
            readings = [_without_verification(each) for each in readings]
            ways["read"] = FioWay(0.0, 0.0, 0.0, 0.0, 0.0)
        stages = [clients.settled([each.share(params) for each in readings])]
        samples = clients.total(stages) | _latencies(ways)
        fairness = clients.fairness([share.rates["rate"] for share in stages[0]])
        samples |= {"fairness": fairness} if fairness is not None else {}
        return Reading(
            samples=tuple(SampleValue(metric, value) for metric, value in samples.items()),
            series=logs.read_series([each.output for each in readings], options.log_interval_s(params)),
            requested=dict(params),
            observed=_observed(readings, params, clients.seconds_of(stages))
            | _laid_out(own)
            | {"freed": _freed(outputs, readings, params)}
            | clients.observed_of(stages)
            | places.observed_of(where),
            flags=(
                *places.flags_of(where, outputs),
                *clients.flags_of(stages, params),
                *_verify_flags(verified, ways["write"].size),
                *_limit_flags(readings),
            ),
            tool_version=next((each.report.version for each in readings if each.report.version), ""),
        )

    def recover(self, output: Output) -> dict[str, Value]:
        """Return the parameters that a report was made with."""
        return recover(self, output)


def _read(output: Output, params: Params, where: Sequence[places.FileSystemPlace], needed: int) -> FioReport:
    text = texts.read_text(output)
    try:
        report = read_report(output)
    except FioRefused as error:
        raise failure(error.reason, output, **error.values) from None
    if report is None:
        texts.refuse_cut_short(output)
        raise errors.explain(output, text, direct=params["direct"])
    if report.error:
        problem = errors.of_job(output, report.error, text, direct=params["direct"])
        short = places.without_room(where, needed) if problem.code == "no-space" else None
        raise failure("too-little-room", output, free=short.free, wanted=needed) if short else problem
    if stopped := re.search(r"^fio: terminating on .*$", text, re.M):
        raise failure("timed-out", output) if output.timed_out else failure("stopped", output, said=stopped[0])
    texts.refuse_cut_short(output)
    return report


def _require_something(each: ClientReport, params: Params, *, is_ours: bool) -> None:
    """Raise the failure of a client that moved nothing, or (an archive may not tell) not all ways of its pattern."""
    pattern = params["pattern"]
    moves = {"read": pattern not in options.WRITING, "write": pattern not in options.READING}
    ways = each.report.ways
    if not any(way.size and way.rate for way in ways.values()):
        raise failure("nothing-moved", each.output, said=pattern)
    missing = [name for name, is_wanted in moves.items() if is_wanted and not ways[name].size]
    if missing and is_ours:
        raise failure("tests-missing", each.output, missing=", ".join(missing))


def _without_verification(each: ClientReport) -> ClientReport:
    nothing = FioWay(0.0, 0.0, 0.0, 0.0, 0.0)
    report = each.report
    return ClientReport(
        each.output, FioReport({**report.ways, "read": nothing}, report.version, options=report.options)
    )


def _latencies(ways: Mapping[str, FioWay]) -> dict[str, float]:
    latencies = {}
    for name, way in ways.items():
        for suffix, value in (("", way.mean), ("_p99", way.tail), ("_max", way.most)):
            if value is not None and way.operations:
                latencies[f"{name}_latency{suffix}"] = value
    return latencies


def _observed(readings: Sequence[ClientReport], params: Params, together: Mapping[str, float]) -> dict[str, Any]:
    """Return what validity is judged by (sizes in B, times in s).

    `together` {metric: time (s)} are those measured over the time in which all clients ran.
    """
    seconds = {
        name: min(each.report.ways[name].seconds for each in readings)
        for name in WAYS
        if all(each.report.ways[name].seconds for each in readings)
    }
    whole = {"rate": max(seconds.values())} if seconds else {}
    observed: dict[str, Any] = {"measured_s": {**seconds, **whole, **together}}
    sizes = [size_of(each.output, each.report) for each in readings]
    if None in sizes:
        return observed
    size = params["jobs"] * max(own for own in sizes if own)
    most_read, most_written = (max(each.report.ways[way].size for each in readings) for way in WAYS)
    return observed | {
        # Files to read are laid out before; of those that are written there is what was written until time was up.
        "working_set": size if most_read else min(size, round(most_written)),
        "direct_io": params["direct"],
        "synced": bool(params["sync_every"]),
        # fio drops its files from the page cache before it begins; a second pass reads what the first one left there.
        "uncached": list(options.OF_READS) if most_read <= size else [],
    }


def _laid_out(own: Sequence[Output]) -> dict[str, bool]:
    """Return whether files were written just before they were read: in a stage of ours, or as the program tells."""
    is_laid_out = any(output.stage == PREPARE or _LAYS_OUT.search(texts.read_text(output)) for output in own)
    return {"just_written": True} if is_laid_out else {}


def _freed(outputs: Sequence[Output], readings: Sequence[ClientReport], params: Params) -> list[str]:
    """Return the metrics of what was read once, when the server's cache was free of it."""
    most_read = max(each.report.ways["read"].size for each in readings)
    is_once = most_read <= params["file_size"] * params["jobs"]
    return list(options.OF_READS) if is_once and caches.freed_before(outputs, MEASURE) else []


def _limit_flags(readings: Sequence[ClientReport]) -> list[Flag]:
    """Return one doubt for what the limits of clients' jobs held, in the words of the first."""
    flags = [
        flag for each in readings for flag in pacing.flags_of(each.output, each.report.options, each.report.ways)
    ]
    metrics = tuple(dict.fromkeys(metric for flag in flags for metric in flag.metrics))
    return [Flag(flags[0].name, flags[0].severity, flags[0].message, metrics)] if flags else []


def _verify_flags(verified: float | None, total: float) -> tuple[Flag, ...]:
    if verified is None:
        return ()
    if verified < total:
        text = _("Only %(verified)s of %(written)s bytes were read back and compared.")
        values = {"verified": round(verified), "written": round(total)}
        return (Flag("verified-partly", "warning", Message(text, values)),)
    return (Flag("verified", "info", Message(_("All that was written was read back and is the same."))),)
