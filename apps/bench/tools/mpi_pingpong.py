"""Ping-pong between two ranks with programs that come from package registries: NetPIPE, and mpi4py's benchmark."""

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
from apps.bench.tools import _pingpong
from apps.bench.tools._mpi import options as mpi
from apps.bench.tools._mpi import recovery, run
from apps.bench.tools._mpi.launch import Launch
from apps.bench.tools._mpi.placement import DISTANCE, FREE, OTHER_NODE, PLACEMENT

OPENMPI, MPICH, MPI4PY = "NPopenmpi", "NPmpich2", "mpi4py"
PYTHON = "python3"
LARGEST = 2**30


class MpiPingPong(Tool):
    """NPopenmpi, NPmpich2, python3 -m mpi4py.bench pingpong."""

    slug = "mpi-pingpong"
    name = "MPI ping-pong"
    summary = _("Latency and bandwidth between two ranks by message size, with NetPIPE or mpi4py.")
    programs = (OPENMPI, MPICH, PYTHON, *mpi.PROGRAMS)
    group = "mpi"
    roles = mpi.ROLES
    signatures = (_pingpong.NETPIPE, _pingpong.MPI4PY_TITLE)
    parameters = (
        Parameter(
            "benchmark",
            "choice",
            _("Program"),
            help=_("NetPIPE is built for one MPI library: choose the launcher to match."),
            default=OPENMPI,
            choices=(
                (OPENMPI, _("NetPIPE for Open MPI")),
                (MPICH, _("NetPIPE for MPICH")),
                (MPI4PY, _("mpi4py's benchmark")),
            ),
        ),
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
            maximum=LARGEST,
        ),
        Parameter("min_size", "size", _("Smallest message"), default=1, unit="B", minimum=1, maximum=LARGEST),
        Parameter("max_size", "size", _("Largest message"), default=2**20, unit="B", minimum=1, maximum=LARGEST),
        Parameter(
            "iterations",
            "integer",
            _("Iterations"),
            help=_("Messages of each size; 0 leaves it to the program, which sends fewer of large ones."),
            default=0,
            zero=_("left to the program"),
            unit="count",
            minimum=0,
            maximum=100_000_000,
        ),
        PLACEMENT,
        DISTANCE,
        *mpi.SHARED_PARAMETERS,
    )
    metrics = (
        Metric("bandwidth", _("Bandwidth"), "B/s", True, primary=True, axis="rate"),
        Metric("bandwidth_largest", _("Largest bandwidth of all sizes"), "B/s", True, axis="rate"),
        Metric("latency", _("Latency of the smallest message"), "s", False, axis="time"),
        Metric("time", _("Time of a message"), "s", False, axis="time"),
        Metric("queue_time", _("Time in the queue"), "s", False, axis="queue", has_zero=True),
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse a launcher of another library, and sizes that will not be measured."""
        errors = mpi.check(params)
        pairs = {(OPENMPI, mpi.MPICH), (OPENMPI, mpi.INTELMPI), (MPICH, mpi.OPENMPI)}
        if (params["benchmark"], params["launcher"]) in pairs:
            text = _("%(program)s is built for another MPI library than this launcher's.")
            errors["launcher"] = Message(text, {"program": params["benchmark"]})
        if params["min_size"] > params["max_size"]:
            errors["min_size"] = Message(_("The smallest message is larger than the largest."))
        elif params["message_size"] and not params["min_size"] <= params["message_size"] <= params["max_size"]:
            errors["message_size"] = Message(_("It lies outside of the sizes that are measured."))
        return errors

    def check_cast(self, params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
        """Refuse more nodes than there are, and one node where partners are to run on two."""
        return mpi.check_cast(params, counts, minimum=2 if params["placement"] == OTHER_NODE else 1)

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return the launcher's command on the first node."""
        usable = run.nodes_of(params, nodes)
        launch = Launch(
            nodes=usable,
            slots=run.slots_of_pairs(params, 1, usable),
            argv=words_of(params),
            params=params,
            time_limit_s=run.start_time_s(2) + 20 * _duration_s(params) + 120,
        )
        return run.make_plan(launch)

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time that the sizes take."""
        return TrialEstimate(_duration_s(params), streams=1 if params["placement"] in (FREE, OTHER_NODE) else 0)

    def recover(self, output: Output) -> dict[str, Value]:
        """Return the program, and the range of sizes in the table or the command line."""
        text = texts.read_text(output)
        program_by_argv = recovery.program_of(output.argv, (OPENMPI, MPICH))
        is_mpi4py = not program_by_argv and (_pingpong.MPI4PY_TITLE.search(text) or MPI4PY + ".bench" in output.argv)
        # NetPIPE's table does not say which MPI it was built with.
        program = program_by_argv or (MPI4PY if is_mpi4py else None)
        table = _pingpong.MPI4PY if program == MPI4PY else _pingpong.NETPIPE
        sizes = [int(row[0]) for row in table.findall(text)]
        valued = {"-u": "most", "-l": "least"} if program_by_argv else {"-n": "most", "-m": "least"}
        words = recovery.words_of(output.argv, program_by_argv or PYTHON)
        options = reconstruction.read_options(words, valued, {"-m": ""} if not program_by_argv else {})
        # NetPIPE's last sizes lie about the largest, by its perturbation.
        maximum = options.get("most", "")
        raw = {
            "benchmark": program,
            "launcher": recovery.launcher_of(output.argv, text),
            "min_size": min(sizes, default=None),
            "max_size": int(maximum) if re.fullmatch(r"[1-9][0-9]{0,9}", maximum) else max(sizes, default=None),
        }
        return reconstruction.keep_valid(self, raw)

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return time and rate at the size of interest, and the table; ToolFailure for all that is not whole."""
        output = run.measured(outputs, params)
        texts.refuse_cut_short(output)
        table = (_pingpong.read_mpi4py if params["benchmark"] == MPI4PY else _pingpong.read_netpipe)(output)
        largest = max(table)
        # The sizes of both grow by half at the most coarse steps of the one, and double with the other.
        is_partial = largest * 2 <= params["max_size"]
        if is_partial and output.exit_code not in (0, None):
            raise failure("mpi-partial", output, last=largest, wanted=params["max_size"])
        size = params["message_size"] or max((size for size in table if size <= params["max_size"]), default=0)
        if size not in table:
            raise failure("mpi-no-size", output, size=size)
        started = run.started(outputs, output, params)
        samples: dict[str, float | None] = {
            "bandwidth": table[size][1],
            "bandwidth_largest": max(rate for _time, rate in table.values()),
            "latency": table[min(table)][0],
            "time": table[size][0],
        }
        return Reading(
            samples=size_tables.figures(samples | started.samples),
            series=(
                *size_tables.by_size("bandwidth", "B/s", {at: rate for at, (_time, rate) in table.items()}),
                *size_tables.by_size("time", "s", {at: time for at, (time, _rate) in table.items()}),
            ),
            requested={**params, **started.requested},
            observed={"message_size": size, "smallest": min(table), **started.observed},
            flags=(*started.flags, *([_partial(largest, params)] if is_partial else [])),
        )


def _partial(largest: int, params: Params) -> Flag:
    """Return the flag of a table that lacks rows though its program ended well, as that of an archive cut short."""
    text = _("The table ends at messages of %(last)s bytes; up to %(wanted)s were measured.")
    return Flag("partial-table", "invalid", Message(text, {"last": largest, "wanted": params["max_size"]}))


def words_of(params: Params) -> tuple[str, ...]:
    """Return the program's own words; without perturbation NetPIPE measures the powers of two and those between."""
    minimum, maximum, iterations = str(params["min_size"]), str(params["max_size"]), params["iterations"]
    if params["benchmark"] == MPI4PY:
        argv = [f"{{program:{PYTHON}}}", "-m", "mpi4py.bench", "pingpong", "-m", minimum, "-n", maximum]
        return (*argv, *(["--loop", str(iterations)] if iterations else []))
    argv = [f"{{program:{params['benchmark']}}}", "-l", minimum, "-u", maximum, "-p", "0", "-o", "{work}/np.out"]
    return (*argv, *(["-n", str(iterations)] if iterations else []))


def _duration_s(params: Params) -> float:
    """Return a guess: NetPIPE gives each size some seven quarters of a second, and has two sizes an octave."""
    octaves = max(1, (params["max_size"] // params["min_size"]).bit_length())
    return 2.0 + 2 * 1.75 * octaves
