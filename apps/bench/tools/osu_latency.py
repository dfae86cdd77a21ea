"""OSU latency: how long messages of each size take, between two ranks, several pairs, or in a collective."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import size_tables, texts
from apps.bench.outputs.failures import failure
from apps.bench.text import Message, _
from apps.bench.toolkit import Metric, NodeRef, Output, Parameter, Params, Plan, Reading, Tool, TrialEstimate, Value
from apps.bench.tools._mpi import options as mpi
from apps.bench.tools._mpi import recovery, run
from apps.bench.tools._osu import options
from apps.bench.tools._osu.table import TITLE, OsuTable, read_table, require_whole

# The benchmarks by the titles that they print.
TITLES = {
    "Latency": "osu_latency",
    "Multi Latency": "osu_multi_lat",
    "Allgather Latency": "osu_allgather",
    "Allreduce Latency": "osu_allreduce",
    "All-to-All Personalized Exchange Latency": "osu_alltoall",
    "Barrier Latency": "osu_barrier",
    "Broadcast Latency": "osu_bcast",
    "Gather Latency": "osu_gather",
    "Reduce Latency": "osu_reduce",
    "Reduce_scatter Latency": "osu_reduce_scatter",
    "Scatter Latency": "osu_scatter",
}
_TAILS = {"latency_p50": "P50", "latency_p90": "P90", "latency_p99": "P99"}


class OsuLatency(Tool):
    """osu_latency, osu_multi_lat and the collectives."""

    slug = "osu-latency"
    name = "OSU latency"
    summary = _("Time of MPI messages by size: between two ranks, several pairs, or in a collective.")
    programs = (*TITLES.values(), *mpi.PROGRAMS)
    group = "mpi"
    roles = mpi.ROLES
    opening = TITLE
    signatures = (re.compile(r"^# OSU MPI [^\n]*Latency Test v\d", re.M),)
    parameters = (
        Parameter(
            "benchmark",
            "choice",
            _("Benchmark"),
            default="osu_latency",
            choices=tuple((program, program) for program in TITLES.values()),
        ),
        mpi.RANKS,
        *options.SHARED,
        *mpi.SHARED_PARAMETERS,
    )
    metrics = (
        Metric("latency", _("Latency"), "s", False, primary=True, axis="time"),
        Metric("latency_least", _("Latency of the smallest message"), "s", False, axis="time"),
        Metric("latency_p50", _("Median latency"), "s", False, axis="time"),
        Metric("latency_p90", _("Latency, 90th percentile"), "s", False, axis="time"),
        Metric("latency_p99", _("Latency, 99th percentile"), "s", False, axis="time"),
        Metric("queue_time", _("Time in the queue"), "s", False, axis="queue", has_zero=True),
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse numbers of ranks that the benchmark would refuse, and sizes that it will not measure."""
        errors = options.check(params, sizeless=params["benchmark"] in options.SIZELESS)
        if params["benchmark"] in options.PAIRWISE and params["ranks"] != 2:
            errors["ranks"] = Message(
                _("%(benchmark)s runs with two ranks exactly."), {"benchmark": params["benchmark"]}
            )
        elif params["benchmark"] in options.MULTIPLE and params["ranks"] % 2:
            errors["ranks"] = Message(_("The ranks work in pairs: choose an even number."))
        elif params["ranks"] < 2:
            errors["ranks"] = Message(_("A message needs two ranks or more."))
        return errors

    def check_cast(self, params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
        """Refuse more nodes than there are, and one node where ranks are to run on several."""
        return mpi.check_cast(params, counts, minimum=2 if params["placement"] == "other-node" else 1)

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return the launcher's command on the first node."""
        return options.make_plan(params, nodes, (), params["ranks"])

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time that the sizes take."""
        return options.make_estimate(params, params["ranks"])

    def recognises(self, output: Output) -> bool:
        """Return whether the text is such a table, or the command line starts one of the programs."""
        return super().recognises(output) or recovery.program_of(output.argv, TITLES.values()) != ""

    def recover(self, output: Output) -> dict[str, Value]:
        """Return the benchmark by its title, and the sizes by its options."""
        title = TITLE.search(texts.read_text(output))
        program = TITLES.get(title[1]) if title else recovery.program_of(output.argv, TITLES.values())
        return options.recover(self, output, program or "", {})

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the latency at the size of interest, and the table; ToolFailure for all that is not whole."""
        output = run.measured(outputs, params)
        texts.refuse_cut_short(output)
        table = read_table(output)
        program = TITLES.get(table.title)
        if program != params["benchmark"]:
            raise failure("contradictory", output, first=table.title, second=params["benchmark"])
        latencies = table.column("Avg Lat", "Lat")
        if not latencies or not all(value > 0 for value in latencies.values()):
            raise failure("unreadable", output)
        if program in options.SIZELESS:
            require_whole(table, output, 0)
            size = 0
        else:
            require_whole(table, output, params["max_size"])
            size = params["message_size"] or max(table.rows)
        if size not in latencies:
            raise failure("mpi-no-size", output, size=size)
        return _read(outputs, output, params, table, size)


def _read(outputs: Sequence[Output], output: Output, params: Params, table: OsuTable, size: int) -> Reading:
    started = run.started(outputs, output, params)
    latencies = table.column("Avg Lat", "Lat")
    samples: dict[str, float | None] = {"latency": latencies[size], "latency_least": latencies[min(latencies)]}
    for metric, beginning in _TAILS.items():
        samples[metric] = table.column(beginning).get(size)
    sized = params["benchmark"] not in options.SIZELESS
    return Reading(
        samples=size_tables.figures(samples | started.samples),
        series=size_tables.by_size("latency", "s", latencies) if sized else (),
        requested={**params, **started.requested},
        observed={"message_size": size, "largest": max(table.rows), **started.observed},
        flags=started.flags,
        tool_version=table.version,
    )
