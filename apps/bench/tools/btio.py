"""NPB BT-IO: a solver that writes its whole field every few steps, by one of several ways of parallel I/O."""

import math
from collections.abc import Mapping, Sequence

from apps.bench import npb
from apps.bench.outputs import reconstruction, size_tables, texts
from apps.bench.outputs.failures import failure
from apps.bench.text import Message, _
from apps.bench.toolkit import (
    Command,
    Flag,
    Metric,
    NodeRef,
    Output,
    Parameter,
    Params,
    Plan,
    Reading,
    Stage,
    Tool,
    TrialEstimate,
    Value,
)
from apps.bench.tools import _btio
from apps.bench.tools._mpi import options as mpi
from apps.bench.tools._mpi import recovery, run
from apps.bench.tools._mpi.launch import ROLE, Launch
from apps.bench.tools._mpi.placement import CORE_PLACEMENT, NODE_PLACEMENT
from apps.bench.tools._storage import places

COPY = "cp"
COPY_LIMIT_S = 30.0
# Operations a second that a modest core does, for the estimate only (measured: 1.5 GFLOP/s).
_MOPS_OF_A_CORE = 1000.0
_MEGA_OPERATIONS = {"S": 230, "W": 7_700, "A": 168_300, "B": 721_500, "C": 2_836_000, "D": 58_500_000}
PROGRAMS = (*_btio.all_programs(_btio.NEW), *_btio.all_programs(_btio.OLD))


class Btio(Tool):
    """bt.CLASS.NPROCS.mpi_io_full and its like."""

    slug = "btio"
    name = "NPB BT-IO"
    summary = _("Parallel I/O of a solver (NPB BT-IO): time and rate, with ranks placed over nodes and cores.")
    programs = (
        *PROGRAMS,
        *mpi.PROGRAMS,
        *(COPY, places.CHECK_PROGRAM, places.CLEAN_PROGRAM),
    )
    group = "mpi"
    file_system = "required"
    roles = mpi.ROLES
    opening = _btio.OPENING
    signatures = (_btio.TITLE, _btio.WRONG_COUNT)
    parameters = (
        Parameter(
            "problem",
            "choice",
            _("Class"),
            help=_("Data written: S 0.8 MB, W 22 MB, A 419 MB, B 1.7 GB, C 6.8 GB, D 136 GB."),
            default="A",
            choices=tuple((name, name) for name in npb.CLASSES),
        ),
        Parameter(
            "subtype",
            "choice",
            _("Kind of I/O"),
            default=_btio.FULL,
            choices=(
                (_btio.FULL, _("full MPI-IO (collective)")),
                (_btio.SIMPLE, _("simple MPI-IO")),
                (_btio.EPIO, _("one file a rank")),
                (_btio.FORTRAN, _("Fortran I/O")),
                (_btio.NONE, _("none, for comparison")),
            ),
        ),
        Parameter(
            "ranks",
            "integer",
            _("Ranks"),
            help=_("A square; at most 16 of class S, 64 of W, 441 of A, 1156 of B, 2916 of C."),
            default=4,
            unit="count",
            minimum=1,
            maximum=100_000,
        ),
        NODE_PLACEMENT,
        CORE_PLACEMENT,
        Parameter(
            "collective_nodes",
            "integer",
            _("Collective buffer: nodes"),
            help=_("Ranks that write for the others (cb_nodes), with full MPI-IO; 0 leaves it to the MPI library."),
            default=0,
            zero=_("left to the program"),
            unit="count",
            minimum=0,
            maximum=100_000,
        ),
        Parameter(
            "collective_size",
            "size",
            _("Collective buffer: size"),
            help=_("Buffer of each of them (cb_buffer_size); a multiple of the file system's block is best."),
            default=1_000_000,
            unit="B",
            minimum=1,
            maximum=2**31 - 1,
        ),
        Parameter(
            "naming",
            "choice",
            _("Programs' names"),
            help=_("NPB 3.3 has a program for each number of ranks, 3.4 one for all."),
            default=_btio.OLD,
            choices=((_btio.OLD, "3.3: bt.A.4.mpi_io_full"), (_btio.NEW, "3.4: bt.A.x.mpi_io_full")),
            advanced=True,
            aside=True,
        ),
        places.FOLDER,
        places.PAGE_POOL,
        places.TIME_LIMIT,
        *mpi.SHARED_PARAMETERS,
    )
    metrics = (
        Metric("io_rate", _("I/O rate"), "B/s", True, primary=True, axis="rate"),
        Metric("io_time", _("I/O time"), "s", False, axis="time"),
        Metric("io_share", _("Share of the time in I/O"), "%", False, axis="load"),
        Metric("run_time", _("Time of the run"), "s", False, axis="time"),
        Metric("operations", _("Operations"), "Mop/s", True, axis="operations"),
        Metric("data_written", _("Data written"), "B", None, axis="size"),
        Metric("queue_time", _("Time in the queue"), "s", False, axis="queue", has_zero=True),
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse numbers of ranks with which BT would print nothing, or run with fewer."""
        errors = mpi.check(params) | places.check_folder(params)
        root, about = math.isqrt(params["ranks"]), npb.CLASSES[params["problem"]]
        if root * root != params["ranks"]:
            text = _("BT needs a square number of ranks: %(less)s or %(more)s.")
            errors["ranks"] = Message(text, {"less": root * root, "more": (root + 1) ** 2})
        elif params["ranks"] > about.most_ranks:
            text = _("Class %(problem)s runs with at most %(most)s ranks.")
            errors["ranks"] = Message(text, {"problem": params["problem"], "most": about.most_ranks})
        if params["collective_nodes"] and params["subtype"] != _btio.FULL:
            errors["collective_nodes"] = Message(_("Only full MPI-IO writes collectively: leave it at 0."))
        elif params["collective_nodes"] > params["ranks"]:
            errors["collective_nodes"] = Message(_("More nodes are to write than there are ranks."))
        return errors

    def check_cast(self, params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
        """Refuse more nodes than there are."""
        return mpi.check_cast(params, counts)

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return: see the mounts, bring the input, run in the folder to write in, remove what was written."""
        usable = run.nodes_of(params, nodes)
        slots = run.slots_of_ranks(params, params["ranks"], usable)
        program = _btio.program_of(params["problem"], params["subtype"], params["ranks"], params["naming"])
        # With Slurm the nodes are not known yet: the log-in node's mount stands for all.
        mounted_on = [usable[0]] if params["launcher"] == mpi.SLURM else list(usable)
        folder = places.folder_of(usable[0], params)
        launch = Launch(
            nodes=usable,
            slots=slots,
            argv=(f"{{program:{program}}}",),
            params=params,
            time_limit_s=params["time_limit"],
            directory=folder,
        )
        before = [places.check_stage(mounted_on, params, ROLE)]
        if params["collective_nodes"]:
            before.append(_input_stage(params, folder))
        return run.make_plan(launch, before=before, after=(places.clean_stage([_left_over(params, folder)], ROLE),))

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time of the computation and of writing 100 MB/s."""
        operations = _MEGA_OPERATIONS[params["problem"]]
        data = npb.CLASSES[params["problem"]].data if params["subtype"] != _btio.NONE else 0
        return TrialEstimate(1.0 + operations / (_MOPS_OF_A_CORE * params["ranks"]) + data / 1e8)

    def recognises(self, output: Output) -> bool:
        """Return whether the text is BT's, or the command line starts it."""
        return super().recognises(output) or recovery.program_of(output.argv, PROGRAMS) != ""

    def recover(self, output: Output) -> dict[str, Value]:
        """Return class, kind of I/O and ranks, as the report, the program's name or the command line tell."""
        text = texts.read_text(output)
        program = recovery.program_of(output.argv, PROGRAMS)
        parts = program.split(".", 3)
        head = _btio.HEADLINE.search(text)
        fields = _btio.told(text)
        # A report without the head of an I/O kind is of a run without I/O, or of Fortran's, which prints none.
        subtype = _btio.HEADS[head[1]] if head else _btio.subtype_of(program) if program else None
        version = _btio.TITLE.search(text)
        ranks = fields.get("ranks") or (int(parts[2]) if len(parts) > 2 and parts[2].isdecimal() else None)
        raw = {
            "problem": fields.get("problem") or (parts[1] if len(parts) > 1 else None),
            "subtype": subtype,
            "ranks": recovery.ranks_of(output.argv) or ranks,
            "launcher": recovery.launcher_of(output.argv, text),
            "naming": _btio.naming_of(program, version[1] if version else ""),
            "collective_nodes": fields.get("collective_nodes"),
            "collective_size": fields.get("collective_size"),
        }
        return reconstruction.keep_valid(self, raw)

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return rate and time of the I/O; ToolFailure unless BT verified what it computed and read back."""
        mounts = places.read_places(outputs, params)
        output = run.measured(outputs, params)
        texts.refuse_cut_short(output)
        report = _btio.read_report(output)
        for printed, requested in (
            (report.problem, params["problem"]),
            (report.subtype, params["subtype"]),
            (report.processes, params["ranks"]),
        ):
            if printed != requested:
                raise failure("contradictory", output, first=str(printed), second=str(requested))
        started = run.started(outputs, output, params)
        samples: dict[str, float | None] = {
            "io_rate": report.rate,
            "io_time": report.io_time,
            "io_share": report.io_share,
            "run_time": report.time,
            "operations": report.mops,
            "data_written": report.data,
        }
        return Reading(
            samples=size_tables.figures(samples | started.samples),
            requested={**params, **started.requested},
            granted={"ranks": report.active, **_granted(report)},
            observed={**_measured(report), **places.observed_of(mounts), **started.observed},
            flags=(*started.flags, *places.flags_of(mounts), *_flags(report, params)),
            tool_version=report.version,
        )


def _input_stage(params: Params, folder: str) -> Stage:
    """Return the stage that puts inputbt.data where BT looks for it."""
    text = _btio.input_of(params["problem"], params["collective_nodes"], params["collective_size"])
    bring = Command(
        role=ROLE,
        node_index=0,
        argv=(COPY, f"{{work}}/{_btio.INPUT}", f"{folder.rstrip('/')}/{_btio.INPUT}"),
        time_limit_s=COPY_LIMIT_S,
        measures=False,
        files=((_btio.INPUT, text),),
    )
    return Stage("input", (bring,))


def _left_over(params: Params, folder: str) -> list[str]:
    """Return the files that a run leaves behind: BT gives them names of its own."""
    name = _btio.FILES.get(params["subtype"])
    names = [name] if name else []
    if params["subtype"] == _btio.EPIO:
        # One a rank: the base name and the rank in digits of no fixed number.
        names = [f"{name}.{rank}" for rank in range(params["ranks"])] + [
            f"{name}.{rank:0{width}d}" for rank in range(params["ranks"]) for width in (2, 3, 4)
        ]
    if params["collective_nodes"]:
        names.append(_btio.INPUT)
    return [f"{folder.rstrip('/')}/{name}" for name in dict.fromkeys(names)]


def _granted(report: _btio.BtioReport) -> dict[str, int]:
    return {f"collective_{name}": value for name, value in report.collective.items()}


def _measured(report: _btio.BtioReport) -> dict[str, dict[str, float]]:
    """Return how long (s) the I/O was: its rate counts only if that is long enough."""
    return {"measured_s": {"io_rate": report.io_time}} if report.io_time is not None else {}


def _flags(report: _btio.BtioReport, params: Params) -> tuple[Flag, ...]:
    flags = []
    if report.active < params["ranks"]:
        text = _("Only %(active)s of %(ranks)s ranks took part.")
        values = {"active": report.active, "ranks": params["ranks"]}
        flags.append(Flag("fewer-processes", "invalid", Message(text, values)))
    if report.collective.get("nodes", 0) != params["collective_nodes"]:
        text = _(
            "An inputbt.data in the folder set %(got)s nodes of the collective buffer; %(asked)s were asked for."
        )
        values = {"got": report.collective.get("nodes", 0), "asked": params["collective_nodes"]}
        flags.append(Flag("other-input", "invalid", Message(text, values)))
    return tuple(flags)
