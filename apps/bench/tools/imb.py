"""Intel MPI Benchmarks: time and rate of messages between two ranks, in pairs, collectives, and of MPI-IO."""

import dataclasses
import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import reconstruction, size_tables, texts
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
    Tool,
    TrialEstimate,
    Value,
)
from apps.bench.tools._imb.table import (
    MULTI,
    TITLE,
    Block,
    ImbReport,
    calling_words,
    processes_of,
    read_report,
    require_whole,
)
from apps.bench.tools._mpi import options as mpi
from apps.bench.tools._mpi import recovery, run
from apps.bench.tools._mpi.launch import ROLE, Launch
from apps.bench.tools._mpi.placement import DISTANCE, FREE, OTHER_NODE, PLACEMENT
from apps.bench.tools._storage import places

PAIRED = ("PingPong", "PingPing")
COLLECTIVES = (
    *("Sendrecv", "Exchange", "Allreduce", "Reduce", "Reduce_scatter", "Allgather", "Gather", "Scatter", "Alltoall"),
    *("Bcast", "Barrier"),
)
FILES = tuple(
    f"{kind}_{what}"
    for kind in ("S_Write", "S_Read", "P_Write", "P_Read", "C_Write", "C_Read")
    for what in (("Indv",) if kind.startswith("S") else ("Indv", "Shared"))
)
NAMES = (*PAIRED, *COLLECTIVES, *FILES)
SIZELESS = ("Barrier",)
MPI1, IO = "IMB-MPI1", "IMB-IO"
# IMB-IO reports writes twice: those merged into one transfer to the file system, and each by itself.
MODE = "AGGREGATE"
LARGEST = 4 * 1024**2
# What IMB-IO calls its file, in the folder where it works.
OUT = "IMB_out"


class Imb(Tool):
    """IMB-MPI1 and IMB-IO."""

    slug = "imb"
    name = "Intel MPI Benchmarks"
    summary = _("Time and rate of MPI messages by size: ping-pong, pairs, collectives, and MPI-IO.")
    programs = (MPI1, IO, *mpi.PROGRAMS, places.CHECK_PROGRAM, places.CLEAN_PROGRAM)
    group = "mpi"
    file_system = "optional"
    roles = mpi.ROLES
    opening = TITLE
    signatures = (TITLE, re.compile(r"^Usage: IMB-\w+ \[-help\]", re.M))
    parameters = (
        Parameter(
            "benchmark", "choice", _("Benchmark"), default="PingPong", choices=tuple((name, name) for name in NAMES)
        ),
        mpi.RANKS,
        Parameter(
            "message_size",
            "size",
            _("Message size"),
            help=_(
                "The size whose figure is the result; the table of all sizes is kept beside it. 0 takes the largest."
            ),
            default=0,
            zero=_("the largest"),
            unit="B",
            minimum=0,
            maximum=2**30,
        ),
        Parameter("min_size", "size", _("Smallest message"), default=1, unit="B", minimum=1, maximum=2**30),
        Parameter("max_size", "size", _("Largest message"), default=2**20, unit="B", minimum=1, maximum=2**30),
        Parameter(
            "iterations",
            "integer",
            _("Iterations"),
            help=_("Messages of each size at most; 0 leaves it to the benchmark, which sends fewer of large ones."),
            default=0,
            zero=_("left to the program"),
            unit="count",
            minimum=0,
            maximum=10_000_000,
        ),
        Parameter(
            "groups",
            "boolean",
            _("Groups at once"),
            help=_("All ranks work in groups of the smallest size at the same time (-multi 0)."),
            default=False,
        ),
        PLACEMENT,
        DISTANCE,
        places.FOLDER,
        *mpi.SHARED_PARAMETERS,
    )
    metrics = (
        Metric("time", _("Time of a message"), "s", False, primary=True, axis="time"),
        Metric("time_min", _("Time of the fastest rank"), "s", False, axis="time"),
        Metric("time_max", _("Time of the slowest rank"), "s", False, axis="time"),
        Metric("bandwidth", _("Bandwidth"), "B/s", True, axis="rate"),
        Metric("bandwidth_largest", _("Largest bandwidth of all sizes"), "B/s", True, axis="rate"),
        Metric("bandwidth_single", _("Bandwidth of single transfers"), "B/s", True, axis="rate"),
        Metric("queue_time", _("Time in the queue"), "s", False, axis="queue", has_zero=True),
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse what the program would not measure: it takes powers of two, and certain numbers of ranks."""
        errors = mpi.check(params) | places.check_folder(params)
        for name in ("min_size", "max_size", "message_size"):
            if params[name] & (params[name] - 1) and params[name]:
                errors[name] = Message(_("IMB measures powers of two: choose one, for example 64 KiB."))
        if params["min_size"] > params["max_size"]:
            errors["min_size"] = Message(_("The smallest message is larger than the largest."))
        elif params["message_size"] and not params["min_size"] <= params["message_size"] <= params["max_size"]:
            errors["message_size"] = Message(_("It lies outside of the sizes that are measured."))
        if params["ranks"] < 2 and not params["benchmark"].startswith("S_"):
            errors["ranks"] = Message(_("A message needs two ranks or more."))
        elif params["benchmark"] in PAIRED and (params["ranks"] % 2 if params["groups"] else params["ranks"] != 2):
            text = _("%(benchmark)s takes two ranks, or with groups at once an even number.")
            errors["ranks"] = Message(text, {"benchmark": params["benchmark"]})
        return errors

    def check_cast(self, params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
        """Refuse more nodes than there are, and one node where partners are to run on two."""
        return mpi.check_cast(params, counts, minimum=2 if params["placement"] == OTHER_NODE else 1)

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return the launcher's command on the first node; MPI-IO works in the file system's folder."""
        benchmark, ranks = params["benchmark"], params["ranks"]
        usable = run.nodes_of(params, nodes)
        writes = benchmark in FILES
        if benchmark in PAIRED and not params["groups"]:
            slots = run.slots_of_pairs(params, 1, usable)
        else:
            slots = run.slots_of_group(params, ranks, usable)
        argv = [f"{{program:{IO if writes else MPI1}}}"]
        argv += ["-multi", "0"] if params["groups"] else []
        argv += [benchmark, "-npmin", str(1 if benchmark.startswith("S_") else ranks)]
        argv += (
            ["-msglog", f"{_log(params['min_size'])}:{_log(params['max_size'])}"] if benchmark not in SIZELESS else []
        )
        argv += ["-iter", str(params["iterations"])] if params["iterations"] else []
        launch = Launch(
            nodes=usable,
            slots=slots,
            argv=tuple(argv),
            params=params,
            time_limit_s=run.start_time_s(ranks) + 20 * _duration_s(params) + 120,
            directory=places.folder_of(usable[0], params) if writes else "",
        )
        if not writes:
            return run.make_plan(launch)
        mounted_on = [usable[0]] if params["launcher"] == mpi.SLURM else list(usable)
        before, output_file = places.check_stage(mounted_on, params, ROLE), f"{launch.directory.rstrip('/')}/{OUT}"
        return run.make_plan(launch, before=[before], after=[places.clean_stage([[output_file]], ROLE)])

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time that the sizes take, and how many pairs may send across a link at once."""
        across = params["placement"] in (FREE, OTHER_NODE)
        return TrialEstimate(_duration_s(params) + 1.0, streams=max(1, params["ranks"] // 2) if across else 0)

    def recognises(self, output: Output) -> bool:
        """Return whether the text is IMB's, or the command line starts it."""
        return super().recognises(output) or recovery.program_of(output.argv, (MPI1, IO)) != ""

    def recover(self, output: Output) -> dict[str, Value]:
        """Return the first benchmark, its processes and sizes, as the head and the command line tell."""
        text = texts.read_text(output)
        valued = {"-iter": "iterations", "-multi": "groups", "-msglog": "msglog"}
        words = output.argv or calling_words(text)
        program = recovery.program_of(words, (MPI1, IO)) or MPI1
        options_by_name = reconstruction.read_options(recovery.words_of(words, program), valued, {})
        minimum, _colon, maximum = options_by_name.pop("msglog", "").rpartition(":")
        largest = re.search(r"^# Maximum (?:message length|io portion) in bytes: +(\d{1,10})$", text, re.M)
        block = re.search(rf"^(?:{MULTI}|# Benchmarking )(\S{{1,64}}) *$", text, re.M)
        is_known = reconstruction.is_known(output.argv)
        sizes = [int(size) for size in re.findall(r"^ +([1-9]\d{0,11}) +\d+ +\d+\.\d", text, re.M | re.A)]
        usual = {"min_size": 1, "max_size": LARGEST} if is_known else {}
        if sizes and not is_known:
            usual = {"min_size": min(sizes), "max_size": max(sizes)}
        raw = {
            **usual,
            "benchmark": next((name for name in NAMES if block and name.lower() == block[1].lower()), None),
            # Those that take part; where some of those that were started wait, the command line tells of these, too.
            "ranks": processes_of(text) or recovery.ranks_of(output.argv),
            "launcher": recovery.launcher_of(output.argv, text),
            "iterations": options_by_name.get("iterations", "").partition(",")[0] if words else None,
            "groups": block[0].startswith(MULTI) if block else "groups" in options_by_name if words else None,
        }
        if re.fullmatch(r"[0-9]{1,2}", minimum):
            raw["min_size"] = 2 ** int(minimum)
        if largest or re.fullmatch(r"[0-9]{1,2}", maximum):
            raw["max_size"] = int(largest[1]) if largest else 2 ** int(maximum)
        return reconstruction.keep_valid(self, raw)

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return time and rate at the size of interest, and the tables; ToolFailure for all that is not whole."""
        mounts = places.read_places(outputs, params) if params["benchmark"] in FILES else []
        output = run.measured(outputs, params)
        texts.refuse_cut_short(output)
        report = read_report(output)
        block = _choose(report, output, params)
        sized = params["benchmark"] not in SIZELESS
        require_whole(block, output, params["max_size"] if sized else 0)
        size = (params["message_size"] or max(block.rows)) if sized else 0
        if size not in block.rows:
            raise failure("mpi-no-size", output, size=size)
        reading = _read(outputs, output, params, report, block, size)
        observed = {**reading.observed, **places.observed_of(mounts)}
        flags = places.flags_of(mounts) if params["benchmark"] in FILES else ()
        return dataclasses.replace(reading, observed=observed, flags=(*reading.flags, *flags))


def _choose(report: ImbReport, output: Output, params: Params) -> Block:
    """Return the table of the benchmark; IMB may have run it in groups and with all, or counted its writes twice."""
    name = params["benchmark"].lower()
    kinds = {(block.name.lower(), block.processes) for block in report.blocks}
    if len(kinds) > 1:
        raise failure("several-results", output, n=len(kinds))
    blocks = [block for block in report.blocks if block.name.lower() == name and block.mode in ("", MODE)]
    if not blocks:
        others = ", ".join(sorted({block.name for block in report.blocks}))
        raise failure("contradictory", output, first=others, second=params["benchmark"])
    ranks = 1 if params["benchmark"].startswith("S_") else params["ranks"]
    fitting = [block for block in blocks if block.processes == ranks and (block.groups > 1) <= params["groups"]]
    if not fitting:
        counts = ", ".join(str(block.processes) for block in blocks)
        raise failure("contradictory", output, first=f"{counts} processes", second=f"{ranks}")
    return fitting[0]


def _read(
    outputs: Sequence[Output], output: Output, params: Params, report: ImbReport, block: Block, size: int
) -> Reading:
    started = run.started(outputs, output, params)
    times = {at: row.get("t[usec]", row.get("t_avg[usec]")) for at, row in block.rows.items()}
    rates = {at: row["Mbytes/sec"] for at, row in block.rows.items() if at and "Mbytes/sec" in row}
    times_by_size = {at: time for at, time in times.items() if time is not None}
    if size not in times_by_size or not all(value >= 0 for value in times_by_size.values()):
        raise failure("unreadable", output)
    single = next(
        (other.rows for other in report.blocks if other.name == block.name and other.mode == f"NON-{MODE}"), {}
    )
    samples: dict[str, float | None] = {
        "time": times_by_size[size],
        "time_min": block.rows[size].get("t_min[usec]"),
        "time_max": block.rows[size].get("t_max[usec]"),
        "bandwidth": rates.get(size),
        "bandwidth_largest": max(rates.values(), default=None),
        "bandwidth_single": single.get(size, {}).get("Mbytes/sec"),
    }
    text = Message(
        _("The program ignored options that it does not know: %(names)s."), {"names": ", ".join(report.ignored)}
    )
    return Reading(
        samples=size_tables.figures(samples | started.samples),
        series=(
            *(size_tables.by_size("time", "s", times_by_size) if max(times_by_size) else ()),
            *size_tables.by_size("bandwidth", "B/s", rates),
        ),
        requested={**params, **started.requested},
        granted={"processes": block.processes, "groups": block.groups},
        observed={"message_size": size, **started.observed},
        flags=(*started.flags, *([Flag("option-ignored", "warning", text)] if report.ignored else [])),
        tool_version=report.version,
    )


def _log(size: int) -> int:
    return int(size).bit_length() - 1


def _duration_s(params: Params) -> float:
    """Return a guess: IMB gives each size a thousand messages, and fewer from 40 MB on."""
    return 1.0 + 0.1 * (_log(params["max_size"]) - _log(params["min_size"]) + 1)
