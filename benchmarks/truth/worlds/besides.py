"""What some teams measure beside: GridFTP with options, the other direction, and part of it in another campaign.

All is drawn by itself: what else a seed gives stays as it was.
"""

import dataclasses
import random

from apps.bench.toolkit import Tool
from benchmarks.truth.worlds import tcp
from benchmarks.truth.worlds.base import Cell, Setup, Trial
from benchmarks.truth.worlds.network import CLIENT, SERVER, NetworkWorld
from benchmarks.truth.worlds.noise import draw, steady

GRIDFTP, SOURCE, DESTINATION = "gridftp", "source", "destination"
# Options of GridFTP that are tried side by side: streams, and the window of each (B; 0 is the kernel's own).
CHOICES = ((1, 0), (2, 0), (4, 0), (8, 0), (1, 2**22), (4, 2**22))
# What was measured so many days from the world's own campaign lies in another one.
DAYS = (-7, -1, 1)
# Tools that tell what a path carries.
TELLING = ("iperf3-tcp", "iperf3-udp", "pathrate")
FORTH = "forward"


def add(world: NetworkWorld) -> NetworkWorld:
    """Return a world with what was measured beside, by chance."""
    source = random.Random(f"{world.seed} besides")  # noqa: S311 - a simulation, not a secret
    setups = list(world.setups)
    if source.random() < 0.2:
        setups.append(_gridftp(world, source))
    if source.random() < 0.12:
        setups.append(_both_ways(world, source))
    if source.random() < 0.15:
        setups = _parted(setups, source)
    return dataclasses.replace(world, setups=tuple(setups))


def _rates(world: NetworkWorld, points: int, source: random.Random) -> list[list[float]]:
    factors, _hits = draw(world.noise, points * world.repetitions, source)
    return [factors[place::points] for place in range(points)]


def _scattered(world: NetworkWorld, reached: tcp.Reached, factor: float) -> float:
    """Return a rate (bit/s) of a run: a path that is full scatters by little."""
    return reached.rate * (1 + (factor - 1) * (steady(world.noise) if reached.limit == tcp.PATH else 1))


def _gridftp(world: NetworkWorld, source: random.Random) -> Setup:
    count = source.choice((3, 4, 6))
    cells = []
    for (streams, window), factors in zip(CHOICES[:count], _rates(world, count, source), strict=True):
        parameters = {"streams": streams, "window": window}
        reached = world.reach(parameters)
        trials = [Trial({"throughput": _scattered(world, reached, factor) / 8}) for factor in factors]
        cells.append(Cell(parameters, {"throughput": reached.rate / 8}, trials))
    return Setup("Transfers", GRIDFTP, {SOURCE: (CLIENT,), DESTINATION: (SERVER,)}, cells, ("streams", "window"))


def _both_ways(world: NetworkWorld, source: random.Random) -> Setup:
    """Return one stream with the kernel's window each way, in turn."""
    name, value = Tool.backwards_at
    cells = []
    for is_back, factors in zip((False, True), _rates(world, 2, source), strict=True):
        parameters: dict[str, object] = {"duration": 10.0, name: value if is_back else FORTH}
        reached = world.reach(parameters)
        trials = []
        for factor in factors:
            rate = _scattered(world, reached, factor)
            local, remote = (100 * min(1.0, rate / host.flow_bps) for host in (world.client, world.server))
            figures = {"goodput": rate, "cpu_local": local, "cpu_remote": remote}
            is_full = reached.rate >= 0.97 * reached.terms[tcp.PROCESSOR]
            trials.append(Trial(figures, (("processor-full", "info", ()),) if is_full else ()))
        cells.append(Cell(parameters, {"goodput": reached.rate}, trials))
    return Setup("Both ways", "iperf3-tcp", {CLIENT: (CLIENT,), SERVER: (SERVER,)}, cells, (name,))


def _parted(setups: list[Setup], source: random.Random) -> list[Setup]:
    """Return experiments of which one that tells what the path carries lies in another campaign of the team."""
    places = [place for place, setup in enumerate(setups) if setup.tool in TELLING]
    if len(places) < 2:
        return setups
    place, days = source.choice(places), source.choice(DAYS)
    return [dataclasses.replace(setup, days=days) if at == place else setup for at, setup in enumerate(setups)]
