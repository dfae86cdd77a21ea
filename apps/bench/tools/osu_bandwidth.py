"""OSU bandwidth: how fast messages of each size move, one way, both ways, or between several pairs at once."""

import re
from collections.abc import Mapping, Sequence

from apps.bench.outputs import size_tables, texts
from apps.bench.outputs.failures import failure
from apps.bench.text import Message, _
from apps.bench.toolkit import Metric, NodeRef, Output, Parameter, Params, Plan, Reading, Tool, TrialEstimate, Value
from apps.bench.tools._mpi import options as mpi
from apps.bench.tools._mpi import recovery, run
from apps.bench.tools._osu import options
from apps.bench.tools._osu.table import PAIRS, TITLE, read_table, require_whole

TITLES = {
    "Bandwidth": "osu_bw",
    "Bi-Directional Bandwidth": "osu_bibw",
    "Multiple Bandwidth / Message Rate": "osu_mbw_mr",
}
WINDOW = 64


class OsuBandwidth(Tool):
    """osu_bw, osu_bibw and osu_mbw_mr."""

    slug = "osu-bandwidth"
    name = "OSU bandwidth"
    summary = _("Bandwidth of MPI messages by size: one way, both ways, or of several pairs with their message rate.")
    programs = (*TITLES.values(), *mpi.PROGRAMS)
    group = "mpi"
    roles = mpi.ROLES
    opening = TITLE
    signatures = (
        re.compile(r"^# OSU MPI [^\n]*(?:Bandwidth|Message Rate) Test v\d", re.M),
        re.compile(r"^Usage: osu_m?(?:bi)?bw\w* \[options\]", re.M),
        re.compile(r"^This test requires exactly two processes$", re.M),
    )
    parameters = (
        Parameter(
            "benchmark",
            "choice",
            _("Benchmark"),
            default="osu_bw",
            choices=tuple((program, program) for program in TITLES.values()),
        ),
        Parameter(
            "pairs",
            "integer",
            _("Pairs"),
            help=_("Pairs of ranks that send at once; more than one is for osu_mbw_mr only."),
            default=1,
            unit="count",
            minimum=1,
            maximum=50_000,
        ),
        Parameter(
            "window",
            "integer",
            _("Messages under way"),
            help=_("How many messages a rank sends before it waits for an answer."),
            default=WINDOW,
            unit="count",
            minimum=1,
            maximum=100_000,
        ),
        *options.SHARED,
        *mpi.SHARED_PARAMETERS,
    )
    metrics = (
        Metric("bandwidth", _("Bandwidth"), "B/s", True, primary=True, axis="rate"),
        Metric("bandwidth_largest", _("Largest bandwidth of all sizes"), "B/s", True, axis="rate"),
        Metric("bandwidth_pair", _("Bandwidth of a pair, mean"), "B/s", True, axis="rate"),
        Metric("message_rate", _("Message rate"), "1/s", True, axis="message rate"),
        Metric("queue_time", _("Time in the queue"), "s", False, axis="queue", has_zero=True),
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse several pairs of a benchmark for one, and sizes that it will not measure."""
        errors = options.check(params)
        if params["pairs"] != 1 and params["benchmark"] in options.PAIRWISE:
            text = _("%(benchmark)s runs with one pair exactly; osu_mbw_mr takes several.")
            errors["pairs"] = Message(text, {"benchmark": params["benchmark"]})
        return errors

    def check_cast(self, params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
        """Refuse more nodes than there are, and one node where partners are to run on two."""
        return mpi.check_cast(params, counts, minimum=2 if params["placement"] == "other-node" else 1)

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return the launcher's command on the first node."""
        words = ["-W", str(params["window"])] if params["window"] != WINDOW else []
        # The rate at other numbers of messages under way is a measurement of its own.
        words += ["-V"] if params["benchmark"] == "osu_mbw_mr" and params["window"] != WINDOW else []
        return options.make_plan(params, nodes, words, 2 * params["pairs"])

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time that the sizes take."""
        return options.make_estimate(params, 2 * params["pairs"])

    def recognises(self, output: Output) -> bool:
        """Return whether the text is such a table, or the command line starts one of the programs."""
        return super().recognises(output) or recovery.program_of(output.argv, TITLES.values()) != ""

    def recover(self, output: Output) -> dict[str, Value]:
        """Return the benchmark by its title, pairs and window by its head, and the sizes by its options."""
        text = texts.read_text(output)
        title, setup = TITLE.search(text), PAIRS.search(text)
        program = TITLES.get(title[1]) if title else recovery.program_of(output.argv, TITLES.values())
        setup_params = {"pairs": int(setup[1]), "window": int(setup[2])} if setup else {}
        return options.recover(self, output, program or "", setup_params)

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return the bandwidth at the size of interest, and the table; ToolFailure for all that is not whole."""
        output = run.measured(outputs, params)
        texts.refuse_cut_short(output)
        table = read_table(output)
        if TITLES.get(table.title) != params["benchmark"]:
            raise failure("contradictory", output, first=table.title, second=params["benchmark"])
        require_whole(table, output, params["max_size"])
        rates = table.column("Bandwidth", "MB/s")
        if not rates or not all(value > 0 for value in rates.values()):
            raise failure("unreadable", output)
        pairs = table.pairs if table.pairs is not None else 1
        if pairs != params["pairs"]:
            raise failure("contradictory", output, first=f"{pairs} pairs", second=f"{params['pairs']} pairs")
        size = params["message_size"] or max(table.rows)
        if size not in rates:
            raise failure("mpi-no-size", output, size=size)
        messages = table.column("Messages/s")
        if messages and abs(messages[size] * size - rates[size]) > 0.05 * rates[size]:
            raise failure("contradictory", output, first=f"{messages[size]} 1/s", second=f"{rates[size]} B/s")
        started = run.started(outputs, output, params)
        samples: dict[str, float | None] = {
            "bandwidth": rates[size],
            "bandwidth_largest": max(rates.values()),
            "bandwidth_pair": rates[size] / pairs,
            "message_rate": messages.get(size),
        }
        return Reading(
            samples=size_tables.figures(samples | started.samples),
            series=(
                *size_tables.by_size("bandwidth", "B/s", rates),
                *(size_tables.by_size("message_rate", "1/s", messages) if messages else ()),
            ),
            requested={**params, **started.requested},
            granted={"window": table.window} if table.window is not None else {},
            observed={"message_size": size, "pairs": pairs, **started.observed},
            flags=started.flags,
            tool_version=table.version,
        )
