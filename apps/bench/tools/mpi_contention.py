"""MPI contention: pairs of ranks that send at one instant, the share that each gets, and what one pair has alone."""

from collections.abc import Mapping, Sequence

from apps.bench.outputs import concurrency, size_tables, texts
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
    ToolRole,
    TrialEstimate,
    Value,
)
from apps.bench.tools import _pingpong
from apps.bench.tools._mpi import launchers, recovery, run
from apps.bench.tools._mpi import options as mpi
from apps.bench.tools._mpi.launch import Launch
from apps.bench.tools._mpi.placement import DISTANCE, FREE, OTHER_NODE, PLACEMENT, RankSlot
from apps.bench.tools._osu.table import read_table

OSU, OPENMPI, MPICH = "osu_bw", "NPopenmpi", "NPmpich2"
ALONE, TOGETHER = "alone", "together"
# What OSU sends before it waits for an answer.
WINDOW = 64


class MpiContention(Tool):
    """N launches of two ranks each, all started at one instant."""

    slug = "mpi-contention"
    name = "MPI contention"
    summary = _("Pairs of ranks that send at the same time: share of each, fairness, slowdown against one pair.")
    programs = (OSU, OPENMPI, MPICH, *mpi.PROGRAMS[:2])
    group = "mpi"
    roles = (ToolRole("node", _("Nodes"), many=True),)
    parameters = (
        Parameter(
            "pairs",
            "integer",
            _("Pairs"),
            help=_("Pairs of ranks that send at once."),
            default=2,
            unit="count",
            minimum=1,
            maximum=512,
        ),
        Parameter(
            "benchmark",
            "choice",
            _("Program"),
            help=_("What each pair runs; NetPIPE waits for an answer after each message, OSU after 64 of them."),
            default=OSU,
            choices=(
                (OSU, _("OSU bandwidth")),
                (OPENMPI, _("NetPIPE for Open MPI")),
                (MPICH, _("NetPIPE for MPICH")),
            ),
        ),
        Parameter("message_size", "size", _("Message size"), default=2**20, unit="B", minimum=1, maximum=2**30),
        Parameter(
            "messages",
            "integer",
            _("Messages"),
            help=_("How many each pair sends; enough for several seconds, so that starting takes no part in it."),
            default=10_000,
            unit="count",
            minimum=1,
            maximum=1_000_000_000,
        ),
        Parameter(
            "baseline",
            "boolean",
            _("One pair alone first"),
            help=_("Measures what the slowdown is told against."),
            default=True,
            advanced=True,
        ),
        Parameter(
            "launcher",
            "choice",
            _("Launcher"),
            help=_("What starts the ranks; it must be that of the MPI library that the benchmark was built with."),
            default=mpi.OPENMPI,
            choices=((mpi.OPENMPI, "Open MPI"), (mpi.MPICH, "MPICH"), (mpi.INTELMPI, "Intel MPI")),
        ),
        PLACEMENT,
        DISTANCE,
        mpi.CLIENTS,
        mpi.REMOTE_AGENT,
        mpi.TRANSPORT,
        mpi.OVERSUBSCRIBE,
    )
    metrics = (
        Metric("aggregate", _("Bandwidth of all pairs"), "B/s", True, primary=True, axis="rate"),
        Metric("bandwidth_pair", _("Bandwidth of a pair, mean"), "B/s", True, axis="rate"),
        Metric("bandwidth_least", _("Bandwidth of the slowest pair"), "B/s", True, axis="rate"),
        Metric("bandwidth_alone", _("Bandwidth of one pair alone"), "B/s", True, axis="rate"),
        Metric("slowdown", _("Slowdown against one pair"), "1", False, axis="ratio"),
        Metric("fairness", _("Fairness of the pairs (Jain)"), "1", True, axis="fraction"),
    )

    def check(self, params: Params) -> dict[str, Message]:
        """Refuse a launcher of another library than the program's."""
        errors = mpi.check({"partition": "", "bundle": "", **params})
        if (params["benchmark"], params["launcher"] == mpi.OPENMPI) in {(OPENMPI, False), (MPICH, True)}:
            text = _("%(program)s is built for another MPI library than this launcher's.")
            errors["launcher"] = Message(text, {"program": params["benchmark"]})
        return errors

    def check_cast(self, params: Params, counts: Mapping[str, int]) -> dict[str, Message]:
        """Refuse more nodes than there are, and one node where partners are to run on two."""
        return mpi.check_cast(params, counts, minimum=2 if params["placement"] == OTHER_NODE else 1)

    def plan(self, params: Params, nodes: Mapping[str, Sequence[NodeRef]]) -> Plan:
        """Return: the first pair alone, then all pairs at one instant, each started by a launcher of its own."""
        usable, pairs = run.nodes_of(params, nodes), params["pairs"]
        slots = run.slots_of_pairs(params, pairs, usable)
        commands = [_command(params, usable, (slots[pair], slots[pairs + pair]), pairs) for pair in range(pairs)]
        alone = Stage(ALONE, (_command(params, usable, (slots[0], slots[pairs]), 1),))
        together = Stage(TOGETHER, tuple(commands), together=True)
        return Plan((alone, together) if params["baseline"] and pairs > 1 else (together,))

    def estimate(self, params: Params, capacity_bps: float | None = None) -> TrialEstimate:
        """Return the time that the messages take on the path, or at 10 Gbit/s; alone first, then all at once."""
        seconds = params["messages"] * params["message_size"] * 8 / (capacity_bps or 1e10)
        rounds = params["pairs"] + (1 if params["baseline"] and params["pairs"] > 1 else 0)
        across = params["placement"] in (FREE, OTHER_NODE)
        return TrialEstimate(2.0 + rounds * seconds, streams=params["pairs"] if across else 0)

    def recover(self, output: Output) -> dict[str, Value]:
        """Return the program of one pair's output: the others lie in outputs of their own."""
        program = recovery.program_of(output.argv, (OSU, OPENMPI, MPICH))
        launcher = mpi.MPICH if program == MPICH else mpi.OPENMPI
        parameters: dict[str, Value] = {"benchmark": program, "launcher": launcher} if program else {}
        if output.argv or output.stdout.strip():
            parameters["pairs"] = 1
        sizes = [int(row[0]) for row in _pingpong.NETPIPE.findall(texts.read_text(output))]
        return {**parameters, "message_size": sizes[-1]} if sizes and 0 < sizes[-1] <= 2**30 else parameters

    def parse(self, outputs: Sequence[Output], params: Params) -> Reading:
        """Return aggregate, shares, fairness and slowdown; ToolFailure if any of the pairs gave no result."""
        own = [output for output in outputs if output.stage != ALONE]
        if len(own) != params["pairs"]:
            if not own:
                raise failure("not-run", None, role="node")
            raise failure("contradictory", own[0], first=f"{len(own)} pairs", second=f"{params['pairs']} pairs")
        rates = [_rate_of(output, params) for output in own]
        alone = [_rate_of(output, params) for output in outputs if output.stage == ALONE][-1:]
        mean = sum(rates) / len(rates)
        baseline = alone[0] if alone else mean if len(rates) == 1 else None
        samples: dict[str, float | None] = {
            "aggregate": sum(rates),
            "bandwidth_pair": mean,
            "bandwidth_least": min(rates),
            "bandwidth_alone": baseline,
            "slowdown": baseline / mean if baseline is not None else None,
            # Jain, Chiu, Hawe 1984: 1 where all have the same, 1/n where one has all.
            "fairness": sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates)),
        }
        maps = [run.started(outputs, output, params) for output in own]
        overlap = concurrency.overlap_of(own)
        timing = {"start_skew": overlap.skew_s, "overlap": overlap.share} if overlap else {}
        return Reading(
            samples=size_tables.figures(samples),
            requested={**params, "map": [started.requested.get("map", []) for started in maps]},
            observed={
                **timing,
                "clients": [
                    {"node": output.node, "pair": pair, "rate": rate, "share": rate / sum(rates)}
                    for pair, (output, rate) in enumerate(zip(own, rates, strict=True))
                ],
                "map": [started.observed.get("map", []) for started in maps],
            },
            flags=(
                *_one_of_each([flag for started in maps for flag in started.flags]),
                *concurrency.flags_of(overlap),
            ),
        )


def _command(params: Params, nodes: tuple[NodeRef, ...], slots: tuple[RankSlot, RankSlot], pairs: int) -> Command:
    """Return the launcher's command for one pair; with `pairs` at once each takes so much longer."""
    launch = Launch(
        nodes=nodes,
        slots=slots,
        argv=_words(params),
        params=params,
        # A path of 10 Mbit/s would be slow.
        time_limit_s=run.start_time_s(2 * pairs) + 60 + pairs * params["messages"] * params["message_size"] * 8 / 1e7,
    )
    return launchers.get(params["launcher"]).command(launch)


def _words(params: Params) -> tuple[str, ...]:
    program, size, count = f"{{program:{params['benchmark']}}}", str(params["message_size"]), params["messages"]
    if params["benchmark"] == OSU:
        return (program, "-m", f"{size}:{size}", "-i", str(max(1, round(count / WINDOW))), "-x", "1")
    # NetPIPE repeats a measurement seven times and sends each message back.
    return (program, "-l", size, "-u", size, "-p", "0", "-n", str(max(1, round(count / 14))), "-o", "{work}/np.out")


def _rate_of(output: Output, params: Params) -> float:
    """Return the rate (B/s) of one pair at the message size."""
    texts.refuse_cut_short(output)
    size = params["message_size"]
    if params["benchmark"] == OSU:
        rates = read_table(output).column("Bandwidth")
    else:
        rates = {at: rate for at, (_time, rate) in _pingpong.read_netpipe(output).items()}
    if size not in rates:
        raise failure("mpi-no-size", output, size=size)
    if not rates[size] > 0:
        raise failure("unreadable", output)
    return rates[size]


def _one_of_each(flags: Sequence[Flag]) -> list[Flag]:
    """Return one flag of each name: what is wrong with one pair's placement is as a rule wrong with all."""
    names: dict[str, Flag] = {}
    for flag in flags:
        names.setdefault(flag.name, flag)
    return list(names.values())
