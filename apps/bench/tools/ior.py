"""IOR: how fast the ranks of a parallel program write and read files, each by itself or all together."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.bench.outputs import reconstruction, texts
from apps.bench.outputs.failures import failure
from apps.bench.text import Message, _
from apps.bench.toolkit import (
    Flag,
    Metric,
    NodeRef,
    Output,
    Parameter,
    Params,
    Plan,
    Reading,
    SampleValue,
    Tool,
    TrialEstimate,
    Value,
)
from apps.bench.tools._ior import launch
from apps.bench.tools._ior.report import IorPass, IorReport, IorSeveral, IorUnreadable, read_report
from apps.bench.tools._mpi import options, run
from apps.bench.tools._mpi.recovery import ranks_of, words_of
from apps.bench.tools._storage import places

POSIX, MPIIO = "POSIX", "MPIIO"
ACCESSES = ("write", "read")
OF_READS = ("read", "read_best", "read_transfer", "read_iops")
GUESSED_RATE = 100e6
# Closing takes a share of the time worth telling from here on: that is where a file system commits.
LONG_CLOSE = 0.25


class Ior(Tool):
    """IOR under an MPI launcher."""

    slug = "ior"
    name = "IOR"
    summary = _("Rates of parallel writes and reads, by POSIX or MPI-IO calls, shared or one file a process.")
    programs = ("ior", *launch.PROGRAMS)
    group = "storage"
    file_system = "required"
    opening = re.compile(r"^IOR-\d[\w.+-]*: MPI Coordinated Test of Parallel I/O", re.M | re.A)
    signatures = (
        re.compile(r"^IOR-\d[\w.+-]*: MPI Coordinated Test of Parallel I/O", re.M | re.A),
        re.compile(r"^access,bw\(MiB/s\),IOPS", re.M),
        re.compile(r'"bwMiB" ?: ?\d|"bwMeanMIB" ?: ?\d'),
        re.compile(r"^Synopsis \S*ior$|\(ior\.c:\d+\)$", re.M | re.A),
    )
    roles = options.ROLES
    parameters = (
        Parameter(
            "api", "choice", _("Interface"), default=POSIX, choices=((POSIX, "POSIX"), (MPIIO, "MPI-IO")),
        ),
        Parameter(
            "collective", "boolean", _("Collective"),
            help=_("All ranks take part in each call, and the library joins their requests (-c); MPI-IO only."),
            default=False,
        ),
        Parameter(
            "block_size", "size", _("Block size"), help=_("What each rank writes in one piece of a segment (-b)."),
            default=256 * 1024**2, unit="B", minimum=1,
        ),
        Parameter(
            "transfer_size", "size", _("Transfer size"), help=_("What each call moves (-t)."),
            default=1024**2, unit="B", minimum=1,
        ),
        Parameter(
            "segments", "integer", _("Segments"), help=_("How often the blocks of all ranks follow each other (-s)."),
            default=1, unit="count", minimum=1, maximum=1_000_000,
        ),
        Parameter(
            "file_per_process", "boolean", _("One file a process"), help=_("Instead of one for all (-F)."),
            default=False,
        ),
        Parameter(
            "reorder", "boolean", _("Read the neighbour's data"),
            help=_("Each rank reads what a rank of the next node wrote, which its cache does not hold (-C)."),
            default=True,
        ),
        Parameter(
            "fsync", "boolean", _("Synchronise"), help=_("The time of writing ends on the disk (-e)."), default=True
        ),
        Parameter(
            "direct", "boolean", _("Direct I/O"), help=_("Go past the page cache; POSIX only."), default=False
        ),
        Parameter("read", "boolean", _("Read"), help=_("Read what was written, too."), default=True),
        Parameter(
            "iterations", "integer", _("Iterations"), help=_("Passes in one start (-i); repetitions are better."),
            default=1, unit="count", minimum=1, maximum=1000, advanced=True,
        ),
        *launch.PARAMETERS,
    )  # fmt: skip
    metrics = (
        Metric("write", _("Write rate"), "B/s", True, primary=True, axis="byte-rate"),
        Metric("read", _("Read rate"), "B/s", True, axis="byte-rate"),
        Metric("write_best", _("Best write rate"), "B/s", True, axis="byte-rate"),
        Metric("read_best", _("Best read rate"), "B/s", True, axis="byte-rate"),
        Metric("write_transfer", _("Write rate without opening and closing"), "B/s", True, axis="byte-rate"),
        Metric("read_transfer", _("Read rate without opening and closing"), "B/s", True, axis="byte-rate"),
        Metric("write_iops", _("Writes a second"), "op/s", True, axis="operations"),
        Metric("read_iops", _("Reads a second"), "op/s", True, axis="operations"),
        Metric("queue_time", _("Time in the queue"), "s", False, axis="time", has_zero=True),
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse what IOR does not take, or would not do."""
        errors = launch.check(params)
        if params["block_size"] % params["transfer_size"]:
            errors["block_size"] = Message(_("Give a multiple of the transfer size."))
        if params["collective"] and params["api"] != MPIIO:
            errors["collective"] = Message(_("Collective calls are those of MPI-IO: choose it as the interface."))
        if params["direct"] and params["api"] != POSIX:
            errors["direct"] = Message(_("Direct I/O is for the POSIX interface only."))
        return errors

    def check_cast(self, params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
        """Refuse more nodes than were chosen."""
        return options.check_cast(params, counts)

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return one start of all ranks, between the check of the mounts and the clean-up."""
        argv = ["-a", params["api"], "-w"]
        flags = (("read", "-r"), ("collective", "-c"), ("file_per_process", "-F"), ("reorder", "-C"), ("fsync", "-e"))
        argv += [option for name, option in flags if params[name]]
        argv += ["--posix.odirect"] if params["direct"] else []
        argv += ["-b", str(params["block_size"]), "-t", str(params["transfer_size"]), "-s", str(params["segments"])]
        return launch.make_plan(params, nodes, "ior", [*argv, "-i", str(params["iterations"])], "-o")

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return a guess of the time; the traffic to the file system's servers is on no path between the roles."""
        rate = min(GUESSED_RATE, capacity_bps / 8) if capacity_bps else GUESSED_RATE
        size = params["block_size"] * params["segments"] * params["ranks"]
        passes = params["iterations"] * (2 if params["read"] else 1)
        return TrialEstimate(min(size * passes / rate, params["time_limit"]) + 3.0)

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the rates with opening and closing, in which a file system may commit; or ToolFailure."""
        where = places.read_places(outputs, params)
        output, text = launch.read_output(outputs, params)
        try:
            report = read_report(text)
        except IorUnreadable:
            raise failure("unreadable", output) from None
        except IorSeveral as several:
            raise failure("several-results", output, n=several.tests) from None
        if not report.is_whole or not report.rows:
            raise launch.why_none(output, text) if not report.rows else failure("unreadable", output)
        accesses = ACCESSES if params["read"] else ("write",)
        missing = [access for access in accesses if not report.of(access)]
        # An archive may hold one of the two only.
        if missing and where:
            raise failure("tests-missing", output, missing=", ".join(missing))
        samples: dict[str, float] = {}
        for access in ACCESSES:
            samples |= _samples(access, report)
        if not samples or not all(samples.values()):
            raise failure("nothing-moved", output, said=report.rows[0].access)
        begun = run.started(outputs, output, params)
        samples |= {name: value for name, value in begun.samples.items() if value is not None}
        tasks = report.count("tasks")
        return Reading(
            samples=tuple(SampleValue(metric, value) for metric, value in samples.items()),
            requested=dict(params) | begun.requested,
            granted={name: count for name in ("tasks", "nodes") if (count := report.count(name)) is not None},
            observed=_observed(report, params, is_told=bool(own_words(output, report)))
            | begun.observed
            | places.observed_of(where),
            flags=(
                *places.flags_of(where, outputs),
                *begun.flags,
                *launch.flags_of(params, tasks),
                *_close_flags(report),
            ),
            tool_version=report.version,
        )

    def recover(self, output: Output) -> dict[str, Value]:
        """Return the parameters that the command line and the report's own options tell."""
        text = texts.read_text(output)
        try:
            report = read_report(text)
        except (IorUnreadable, IorSeveral):
            report = None
        own = own_words(output, report)
        valued = {"-a": "api", "-b": "block_size", "-t": "transfer_size", "-s": "segments", "-i": "iterations"}
        flags = {"-c": "collective", "-F": "file_per_process", "-C": "reorder", "-e": "fsync", "-r": "read"}
        parameters: dict[str, Value] = report.settings if report else {}
        if own:
            parameters |= dict.fromkeys(flags.values(), False)
            parameters |= reconstruction.read_options(
                own, valued, flags | {"--posix.odirect": "direct", "-w": "write"}
            )
            # Without either of the two IOR does both.
            parameters |= {"read": True} if "write" not in parameters else {}
        ranks = (report.count("tasks") if report else None) or ranks_of(output.argv)
        parameters |= {"ranks": ranks} if ranks else {}
        parameters |= {"read": True} if report and report.of("read") else {}
        if report and report.rows and report.moved != report.planned and report.planned:
            # What each rank was to write, but did not, says nothing of the files.
            parameters.pop("block_size", None)
        return reconstruction.keep_valid(self, parameters)


def own_words(output: Output, report: IorReport | None) -> list[str]:
    """Return IOR's own command line, as it was recorded or as the report tells it; [] if neither does."""
    if reconstruction.is_known(output.argv):
        return words_of(output.argv, "ior")
    return report.command.split() if report else []


def _samples(access: str, report: IorReport) -> dict[str, float]:
    """Return the mean rate as the program computes it, the best, that of the transfer alone, and the operations."""
    rows = report.of(access)
    if not rows:
        return {}
    rates = [row.rate for row in rows]
    samples = {access: report.means.get(access, sum(rates) / len(rates))}
    if len(rates) > 1:
        samples[f"{access}_best"] = max(rates)
    transfers = [amount / row.transfer_s for row in rows if row.transfer_s and (amount := report.moved_by(row))]
    if transfers:
        samples[f"{access}_transfer"] = sum(transfers) / len(transfers)
    operations = [row.iops for row in rows if row.iops is not None]
    if operations:
        samples[f"{access}_iops"] = sum(operations) / len(operations)
    return samples


def _observed(report: IorReport, params: Params, *, is_told: bool) -> dict[str, Any]:
    """Return what validity is judged by (sizes in B, times in s), and the times of opening and closing.

    Whether it synchronised and went past caches only its command line says.
    """
    nodes = report.count("nodes") or 1
    observed: dict[str, Any] = {
        "measured_s": {
            access: min(times)
            for access in ACCESSES
            if (times := [row.total_s for row in report.of(access) if row.total_s])
        },
        "times": {access: _times(report.of(access)) for access in ACCESSES if report.of(access)},
    }
    # A summary alone tells none of these.
    if report.planned:
        observed["api"] = report.word("api")
    if report.planned and report.moved:
        observed["working_set"] = round(report.moved) // nodes
    if report.planned and is_told:
        observed |= {"direct_io": params["direct"], "synced": params["fsync"]}
        # With -C a rank reads the data of another node, if there is one.
        observed["uncached"] = list(OF_READS) if params["reorder"] and nodes > 1 else []
    return observed


def _times(rows: Sequence[IorPass]) -> dict[str, float]:
    """Return the mean times (s) of opening, transferring and closing."""
    parts = {"open": "open_s", "transfer": "transfer_s", "close": "close_s"}
    seconds_by_part = {name: [getattr(row, part) for row in rows] for name, part in parts.items()}
    return {name: sum(values) / len(values) for name, values in seconds_by_part.items() if None not in values}


def _close_flags(report: IorReport) -> list[Flag]:
    flags = []
    for access in ACCESSES:
        rows = report.of(access)
        times = _times(rows) if rows else {}
        whole = sum(times.values())
        if whole and times.get("close", 0.0) > LONG_CLOSE * whole:
            text = _("%(percent)s %% of the time of the %(access)s went into closing: the data were committed there.")
            values = {"percent": f"{100 * times['close'] / whole:.0f}", "access": access}
            flags.append(Flag(f"long-close-{access}", "info", Message(text, values), (access,)))
    return flags
