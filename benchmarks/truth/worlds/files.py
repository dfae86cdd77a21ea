"""What tools measure of a storage world: clients, records, the disks alone, the network alone."""

import dataclasses
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.truth.worlds.base import Cell, Setup, Trial
from benchmarks.truth.worlds.credit import with_credit
from benchmarks.truth.worlds.noise import draw, steady
from benchmarks.truth.worlds.storage import GIB, LOCAL, PAYLOAD, READ, SHARED, USUAL_RECORD, WRITE, StorageWorld

# What reading from the memory of a client gives (B/s).
MEMORY = 6e9
RECORDS = tuple(2**power for power in (16, 18, 20, 22, 24))
TOOL = "iozone"
DISKS_ALONE, NETWORK_ALONE = BENEATH = ("Disks alone", "Network alone")
FILE = 128 * GIB


def measure(world: StorageWorld, source: random.Random) -> StorageWorld:
    """Return the world with what a team measured in it: by chance some of the sweeps and layers."""
    setups = []
    cached = source.random() < 0.12
    if cached:
        world = dataclasses.replace(world, traits=(*world.traits, "cached"))
    counts = [count for count in (1, 2, 3, 4, 6, 8) if count <= len(world.clients)]
    if len(counts) > 2 and source.random() < 0.3:
        counts = counts[: source.choice((2, 3))]
    points: list[dict[str, Any]] = [{"clients": count} for count in counts]
    setups.append(_shared("Clients", world, points, ("clients",) if len(points) > 1 else (), source, cached))
    if world.near:
        setups.append(_near(world, source))
    if source.random() < 0.4:
        records = RECORDS[: source.choice((3, 4, 5))]
        points = [{"clients": 1, "record_size": size, "direct": True} for size in records]
        setups.append(_shared("Records", world, points, ("record_size",), source, False))
    then = _on_another_day(world)
    if source.random() < 0.6:
        setups.append(_disk(then.world, source))
    if source.random() < 0.6:
        setups.append(_network(then.world, source))
    if then.days:
        setups = [dataclasses.replace(own, days=then.days) if own.name in BENEATH else own for own in setups]
        # Links that are described as they are today tell nothing of those of then.
        is_old = then.days > 0 and then.world.wide_bps != world.wide_bps
        world = dataclasses.replace(
            world, links=() if is_old else world.links, traits=(*world.traits, *(["changed"] if then.is_new else []))
        )
    if world.noise.kind == "busy":
        world = dataclasses.replace(world, traits=(*world.traits, "busy"))
    return with_credit(dataclasses.replace(world, setups=tuple(setups)), DISKS_ALONE)


class _Then(NamedTuple):
    """The world as it was when the layers beneath were measured, how many days from then, and if it was another."""

    world: StorageWorld
    days: int
    is_new: bool


def _on_another_day(world: StorageWorld) -> _Then:
    """Return one world in three with layers of another campaign, between which line or disks may have changed.

    What is drawn for it leaves all other worlds of these seeds as they are.
    """
    source = random.Random(f"{world.seed} days")  # noqa: S311 - a simulation, not a secret
    if source.random() >= 0.33:
        return _Then(world, 0, False)
    days = source.choice((-700, -200, -90, 90, 200, 700, -7, 7))
    # In a week nothing is built anew.
    wide, disk = (source.choice((1, 0.1, 10)), source.choice((1, 0.3, 3))) if abs(days) > 7 else (1, 1)
    then = dataclasses.replace(
        world, wide_bps=wide * world.wide_bps, disk={name: disk * rate for name, rate in world.disk.items()}
    )
    return _Then(then, days, (wide, disk) != (1, 1))


def _cells(
    world: StorageWorld,
    points: Sequence[Mapping[str, Any]],
    truth_of: Callable[[Mapping[str, Any]], Mapping[str, float]],
    source: random.Random,
    cached: bool,
) -> list[Cell]:
    """Return cells with noise by block; what a cache gave carries the flag that the product's judge would set."""
    factors, hits = draw(world.noise, len(points) * world.repetitions, source)
    cells = []
    for place, point in enumerate(points):
        truth = truth_of(point)
        # Where the network is full nothing scatters by much.
        full = world.carried(int(point.get("clients") or 1))
        calm = steady(world.noise) if max(truth.values()) >= 0.95 * full else 1.0
        trials = []
        for factor, hit in list(zip(factors, hits, strict=True))[place :: len(points)]:
            own = factor if hit else 1 + (factor - 1) * calm
            figures = {
                metric: rate * own * source.gauss(1, world.noise.cv * calm / 5) for metric, rate in truth.items()
            }
            flags: list[tuple[str, str, tuple[str, ...]]] = []
            if cached:
                figures["reread"] = MEMORY * source.uniform(0.9, 1.1) * int(point.get("clients") or 1)
                flags.append(("cached-read", "warning", ("read", "reread")))
            if hit:
                # The machine was busy with something else meanwhile.
                flags += [("not-steady", "warning", tuple(truth)), ("processor-full", "info", ())]
            trials.append(Trial(figures, tuple(flags)))
        cells.append(Cell(dict(point), truth, trials, calm))
    return cells


def _shared(
    name: str,
    world: StorageWorld,
    points: Sequence[Mapping[str, Any]],
    factors: tuple[str, ...],
    source: random.Random,
    cached: bool,
) -> Setup:
    # Only a small file is read from memory.
    size = 96 * GIB if cached else FILE
    full = [{"file_size": size, "record_size": USUAL_RECORD, **point} for point in points]

    def truth_of(point: Mapping[str, Any]) -> dict[str, float]:
        write, read = world.rate(WRITE, point), world.rate(READ, point)
        return {"write": write, "rewrite": write, "read": read, "reread": read}

    cells = _cells(world, full, truth_of, source, cached)
    return Setup(name, TOOL, {"client": world.clients}, cells, factors, SHARED)


def _near(world: StorageWorld, source: random.Random) -> Setup:
    """Return the same file system from a client beside its servers."""
    point = {"file_size": FILE, "record_size": USUAL_RECORD, "clients": 1}

    def truth_of(_point: Mapping[str, Any]) -> dict[str, float]:
        write, read = world.rate_near(WRITE), world.rate_near(READ)
        return {"write": write, "rewrite": write, "read": read, "reread": read}

    return Setup(
        "Near client", TOOL, {"client": (world.near,)}, _cells(world, [point], truth_of, source, False), (), SHARED
    )


def _disk(world: StorageWorld, source: random.Random) -> Setup:
    point = {"file_size": FILE, "record_size": USUAL_RECORD}
    cells = _cells(world, [point], lambda _point: dict(world.disk), source, False)
    return Setup(DISKS_ALONE, TOOL, {"client": world.servers[:1]}, cells, (), LOCAL)


def _network(world: StorageWorld, source: random.Random) -> Setup:
    """Return TCP between the first client and the first server; its window is the kernel's, not the file system's."""
    window = source.choice((4e5, 4e6, 3e7))
    line = min(world.client_nic_bps, world.server_nic_bps, world.wide_bps) * PAYLOAD * 8

    def truth_of(point: Mapping[str, Any]) -> dict[str, float]:
        return {"goodput": min(line, int(point["streams"]) * window * 8 / world.rtt_s)}

    points = [{"streams": count, "duration": 10.0} for count in source.choice(((1,), (1, 4), (1, 4, 16)))]
    cells = _cells(world, points, truth_of, source, False)
    roles = {"client": world.clients[:1], "server": world.servers[:1]}
    return Setup(NETWORK_ALONE, "iperf3-tcp", roles, cells, ("streams",) if len(points) > 1 else ())
