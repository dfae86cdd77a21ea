"""A world of nodes that exchange messages: by distance, size and the number of pairs."""

import dataclasses
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.truth.worlds.base import Cell, Setup, StatedNode, Trial, World
from benchmarks.truth.worlds.noise import Noise, steady
from benchmarks.truth.worlds.noise import draw as scatter

SAME, OTHER, NODE = "same-socket", "other-socket", "node"
LARGEST, SMALLEST = 2**20, 8
# What one port of each kind carries (B/s).
PORTS = {"InfiniBand QDR": 4e9, "InfiniBand FDR": 6.8e9, "10 Gbit/s Ethernet": 1.18e9, "": 6e9}


@dataclass(frozen=True, kw_only=True)
class MessagesWorld(World):
    """Two nodes: latency (s) and bandwidth (B/s) of one pair by distance; the port all pairs between nodes share.

    `loss` is what each pair more costs the others.
    """

    latency: Mapping[str, float]
    bandwidth: Mapping[str, float]
    port: float
    loss: float

    def time(self, distance: str, size: int) -> float:
        """Return how long (s) a message of a size (B) takes one way."""
        return self.latency[distance] + size / self.bandwidth[distance]

    def rate(self, distance: str, size: int) -> float:
        """Return the bandwidth (B/s) of a stream of messages of a size."""
        return size / (self.latency[distance] / 8 + size / self.bandwidth[distance])

    def aggregate(self, pairs: int) -> float:
        """Return what so many pairs between the nodes reach together (B/s)."""
        return min(pairs * self.bandwidth[NODE], self.port) / (1 + self.loss * (pairs - 1))


def world(seed: int, noise: Noise, repetitions: int, source: random.Random) -> MessagesWorld:
    """Return two nodes with what was measured between them and within."""
    kind = source.choice(list(PORTS))
    port = PORTS[kind] * source.uniform(0.9, 0.98)
    same = source.choice((3e9, 6e9, 1e10))
    ratio = source.choice((1.0, 1.05, 1.5, 2.4, 5.0))
    world = MessagesWorld(
        seed=seed,
        noise=noise,
        repetitions=repetitions,
        nodes=tuple(StatedNode(name, "Site A", None, kind) for name in ("node1", "node2")),
        latency={SAME: 4e-7, OTHER: 4e-7 * ratio, NODE: source.choice((1.5e-6, 5e-6, 2e-5))},
        bandwidth={SAME: same, OTHER: same / ratio, NODE: port * source.choice((0.3, 0.6, 1.0))},
        port=port,
        loss=source.choice((0.0, 0.0, 0.02, 0.1)),
    )
    setups = []
    if source.random() < 0.7:
        setups.append(_distances(world, source))
    if source.random() < 0.7 or not setups:
        setups.append(_pairs(world, source))
    # Drawn by itself: what else a seed gives stays as it was.
    own = random.Random(f"{seed} latency")  # noqa: S311 - a simulation, not a secret
    if own.random() < 0.5:
        latency = {**world.latency, OTHER: world.latency[SAME] * own.choice((0.6, 1.0, 1.0, 1.6, 3.0))}
        world = dataclasses.replace(world, latency=latency)
        setups.append(_latencies(world, own))
    return dataclasses.replace(world, setups=tuple(setups))


def _distances(world: MessagesWorld, source: random.Random) -> Setup:
    """Return the placements within one node."""
    points = [{"placement": name, "message_size": LARGEST} for name in (SAME, OTHER)]
    truths = [
        {"bandwidth": world.rate(name, LARGEST), "bandwidth_largest": world.rate(name, LARGEST)}
        for name in (SAME, OTHER)
    ]
    return Setup(
        "Sockets", "osu-bandwidth", {"node": ("node1",)}, _cells(world, points, truths, source), ("placement",)
    )


def _latencies(world: MessagesWorld, source: random.Random) -> Setup:
    """Return how long the smallest messages take between both placements within one node."""
    points = [{"placement": name, "message_size": SMALLEST} for name in (SAME, OTHER)]
    truths = [{"latency": world.time(name, SMALLEST)} for name in (SAME, OTHER)]
    cells = _cells(world, points, truths, source)
    return Setup("Latencies", "osu-latency", {"node": ("node1",)}, cells, ("placement",))


def _pairs(world: MessagesWorld, source: random.Random) -> Setup:
    counts = (1, 2, 4, 8, 16)[: source.choice((3, 4, 5))]
    points = [{"pairs": count, "message_size": LARGEST} for count in counts]
    truths = [
        {
            "aggregate": world.aggregate(count),
            "bandwidth_pair": world.aggregate(count) / count,
            "bandwidth_alone": world.aggregate(1),
            "fairness": 0.99,
        }
        for count in counts
    ]
    roles = {"node": ("node1", "node2")}
    return Setup(
        "Pairs", "mpi-contention", roles, _cells(world, points, truths, source, still=("fairness",)), ("pairs",)
    )


def _own(world: MessagesWorld, truth: Mapping[str, float], factor: float) -> float:
    """Return the factor of a figure: a port that is full scatters by little."""
    is_full = truth.get("aggregate", 0.0) >= 0.9 * world.port
    return 1 + (factor - 1) * (steady(world.noise) if is_full else 1)


def _cells(
    world: MessagesWorld,
    points: list[dict[str, Any]],
    truths: list[dict[str, float]],
    source: random.Random,
    still: tuple[str, ...] = (),
) -> list[Cell]:
    factors, _hits = scatter(world.noise, len(points) * world.repetitions, source)
    return [
        Cell(
            point,
            truth,
            [
                Trial(
                    {
                        name: rate * (1 if name in still else _own(world, truth, factor))
                        for name, rate in truth.items()
                    }
                )
                for factor in factors[place :: len(points)]
            ],
        )
        for place, (point, truth) in enumerate(zip(points, truths, strict=True))
    ]
