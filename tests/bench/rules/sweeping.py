"""Worlds of sweeps, drawn from a seed: a factor in several circumstances, with levels surely apart or one."""

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.bench import statistics, tools
from apps.bench.rules.base import (
    FILE_SYSTEM,
    INTERCONNECT,
    NETWORK,
    Evidence,
    FileSystemFacts,
    PathFacts,
    Point,
)
from apps.bench.toolkit import harmonic_metrics

KIB, MIB = 1024, 1024**2
# Rates (B/s or bit/s) far apart, and the scatter of their repetitions.
LEVELS = (40e6, 60e6, 100e6, 150e6, 300e6)
NOISE, REPETITIONS = 0.008, 4
# Of each four seeds one makes curves that ascend, one those that are level.
GROWING, LEVEL = 2, 3
SYSTEM = FileSystemFacts("fs", "gpfs", MIB, ("server",))


# Each is itself alone, so that what was asked of it can be kept.
@dataclass(frozen=True, eq=False)
class Sweep:
    """What one tool sweeps: its factors, of each at least two values are measured, and what is held."""

    tool: str
    layer: str
    metric: str
    factors: Mapping[str, Sequence[Any]]
    held: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    file_system: str = ""


_BTIO = {"problem": "B", "subtype": "full", "node_placement": "BAL", "core_placement": "free"}
_NODES = {"node": ("a", "b")}


def _btio(metric: str, **factors: Sequence[Any]) -> Sweep:
    held = {**_BTIO, "ranks": 16, "collective_nodes": 0, "collective_size": MIB}
    return Sweep("btio", FILE_SYSTEM, metric, factors, held, _NODES, "fs")


def _storage(**factors: Sequence[Any]) -> Sweep:
    held = {"file_size": 64 * 1024**3, "record_size": MIB, "threads": 1}
    return Sweep("iozone", FILE_SYSTEM, "write", factors, held, {"client": ("a",)}, "fs")


def _clients(**factors: Sequence[Any]) -> Sweep:
    held = {"file_size": 64 * 1024**3, "record_size": MIB, "threads": 1}
    return Sweep("iozone", FILE_SYSTEM, "write", factors, held, {"client": tuple("abcdefgh")}, "fs")


def _transfers(**factors: Sequence[Any]) -> Sweep:
    held = {parameter.name: parameter.default for parameter in tools.get("gridftp").parameters}
    roles = {"source": ("a",), "destination": ("b",)}
    return Sweep("gridftp", NETWORK, "throughput", factors, {**held, "window": 2 * MIB}, roles)


def _network(tool: str, **factors: Sequence[Any]) -> Sweep:
    # All that the tool's points carry: of less the rules of the network know of no connection.
    held = {parameter.name: parameter.default for parameter in tools.get(tool).parameters}
    held |= {"streams": 1, "window": 0}
    return Sweep(tool, NETWORK, "goodput", factors, held, {"client": ("a",), "server": ("b",)})


# Of each family of rules the sweeps that it reads; the first factor is varied in each of the second's circumstances.
SWEEPS: Mapping[str, tuple[Sweep, ...]] = {
    "mpi": (
        _btio("io_rate", ranks=(1, 4, 16, 64), subtype=("full", "simple")),
        _btio("io_time", ranks=(1, 4, 16, 64), node_placement=("BAL", "UNBAL")),
        _btio("io_rate", collective_size=(MIB, 4 * MIB, 16 * MIB, 64 * MIB), collective_nodes=(0, 4)),
        _btio("io_time", collective_size=(MIB, 4 * MIB, 16 * MIB), core_placement=("DIST", "ACC")),
        _btio("io_rate", collective_size=(1_000_000, 3_000_000), ranks=(4, 16)),
        _btio("io_rate", collective_nodes=(0, 1, 2, 4), collective_size=(MIB, 4 * MIB)),
        _btio("io_rate", subtype=("full", "simple", "epio", "fortran"), node_placement=("BAL", "UNBAL")),
        _btio("io_rate", node_placement=("BAL", "UNBAL"), core_placement=("DIST", "ACC")),
        _btio("io_time", core_placement=("DIST", "ACC", "free"), collective_size=(MIB, 4 * MIB)),
        Sweep(
            "osu-bandwidth",
            INTERCONNECT,
            "bandwidth",
            {"placement": ("same-socket", "other-socket"), "message_size": (KIB, 64 * KIB, MIB)},
            {"benchmark": "osu_bw"},
            {"node": ("a",)},
        ),
        Sweep(
            "mpi-pingpong",
            INTERCONNECT,
            "bandwidth",
            {"distance": (1, 3, 5), "message_size": (KIB, MIB)},
            {"placement": "other-node"},
            _NODES,
        ),
        Sweep(
            "mpi-pingpong",
            INTERCONNECT,
            "latency",
            {"distance": (1, 2, 3), "message_size": (8, KIB)},
            {"placement": "other-socket"},
            {"node": ("a",)},
        ),
        Sweep(
            "mpi-pingpong",
            INTERCONNECT,
            "latency",
            {"distance": (1, 3, 5), "message_size": (8, KIB)},
            {"placement": "other-node"},
            _NODES,
        ),
        Sweep(
            "mpi-contention",
            INTERCONNECT,
            "aggregate",
            {"pairs": (1, 2, 4, 8), "message_size": (8, 64 * KIB, MIB)},
            {"placement": "other-node"},
            _NODES,
        ),
    ),
    "storage": (
        _storage(record_size=(64 * KIB, MIB, 4 * MIB), threads=(1, 4)),
        _storage(threads=(1, 2, 4, 8), record_size=(64 * KIB, MIB)),
        _clients(clients=(1, 2, 4, 8), record_size=(64 * KIB, MIB)),
        _clients(clients=(1, 2, 3, 4, 6, 8), threads=(1,)),
    ),
    "layers": (_storage(record_size=(64 * KIB, MIB, 4 * MIB), threads=(1, 4)),),
    "workloads": (_clients(clients=(1, 2, 4, 8), record_size=(64 * KIB, MIB)),),
    "tcp": (
        _network("iperf3-tcp", streams=(1, 2, 4, 8), window=(64 * KIB, MIB)),
        _network("iperf3-tcp", window=(0, 64 * KIB, 256 * KIB, MIB), streams=(1, 4)),
        _network("iperf3-tcp", window=(64 * KIB, 256 * KIB, MIB, 4 * MIB), streams=(1, 4)),
        _network("iperf3-tcp", congestion=("cubic", "bbr", "reno", "htcp"), streams=(1, 4)),
    ),
    "gridftp": (
        _transfers(streams=(1, 2, 4, 8), window=(0, 2 * MIB)),
        _transfers(streams=(1, 2, 4, 8), concurrency=(1, 4)),
    ),
    "path": (_network("iperf3-tcp", streams=(1, 2, 4, 8), window=(64 * KIB, MIB)),),
}


def evidence_of(sweep: Sweep, seed: int) -> Evidence:
    """Return a sweep as evidence: at every value, in every circumstance, one of the levels.

    By one seed of four they ascend with the first factor, and by another it has no effect.
    """
    source, ids = random.Random(f"{sweep} {seed}"), itertools.count(1)
    tool = tools.get(sweep.tool)
    points = []
    settings = list(itertools.product(*sweep.factors.values()))
    levels = {values: source.choice(LEVELS) for values in settings}
    if seed % 4 in (GROWING, LEVEL):
        for others in {values[1:] for values in settings}:
            own = [values for values in settings if values[1:] == others]
            drawn = sorted(levels[values] for values in own)
            levels |= zip(own, drawn if seed % 4 == GROWING else drawn[:1] * len(own), strict=True)
    for values in settings:
        parameters = {**sweep.held, **dict(zip(sweep.factors, values, strict=True))}
        level = levels[values]
        level = LEVELS[0] / level if sweep.metric in ("io_time", "latency") else level
        figures = {next(ids): level * source.gauss(1, NOISE) for _repetition in range(REPETITIONS)}
        points.append(
            Point(
                parameters,
                {sweep.metric: figures},
                sweep.tool,
                sweep.layer,
                sweep.roles,
                sweep.file_system,
                harmonic=harmonic_metrics(tool, [parameters]),
            )
        )
    return Evidence(
        tuple(points),
        # Transfers and file systems are told in B/s, of which the network carries all.
        PathFacts(1e9 if sweep.metric == "goodput" else 10e9, 0.005, 9000),
        file_systems={"fs": SYSTEM},
        interconnects=dict.fromkeys(("a", "b"), "InfiniBand 4X QDR"),
    )


def groups_of(
    sweep: Sweep, evidence: Evidence, factor: str = ""
) -> Iterator[tuple[Mapping[str, Any], dict[Any, list[float]], set[int]]]:
    """Yield the circumstances of each sweep of a factor (the first), its figures by value, and its trials."""
    factor = factor or next(iter(sweep.factors))
    groups: dict[str, tuple[dict[str, Any], dict[Any, list[float]], set[int]]] = {}
    for point in evidence.points:
        others = {name: value for name, value in point.parameters.items() if name != factor}
        _others, cells, trials = groups.setdefault(repr(sorted(others.items())), (others, {}, set()))
        cells[point.parameters[factor]] = point.values(sweep.metric)
        trials.update(point.trials(sweep.metric))
    yield from groups.values()


def is_surely_worse(figures: Sequence[float], than: Sequence[float], metric: str) -> bool:
    """Return whether figures are worse than others by more than 2 %, beyond the scatter."""
    worse, better = (figures, than) if metric in ("io_time", "latency") else (than, figures)
    return (statistics.compare_two(better, worse).ratio_low or 0.0) > 1.02
