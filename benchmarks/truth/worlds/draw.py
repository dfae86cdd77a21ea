"""Worlds by number: the same seed and number give the same world."""

import dataclasses
import random
from collections.abc import Callable

from benchmarks.truth.worlds import backwards, besides, files, full, messages, network, storage, tcp, transfers
from benchmarks.truth.worlds.base import World
from benchmarks.truth.worlds.noise import KINDS, NORMAL, Noise

SIZES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
REPETITIONS = (1, 1, 2, 3, 3, 3, 5, 5, 8, 10, 20, 30)


def _network(seed: int, noise: Noise, repetitions: int, source: random.Random) -> World:
    # Drawn by themselves: what else a seed gives stays as it was.
    own = random.Random(f"{seed} among others")  # noqa: S311 - a simulation, not a secret
    world = _among_others(network.draw(seed, noise, repetitions, source), own)
    measured = transfers.measure(full.filled(_aged(world)), source)
    return backwards.turned(measured) if measured.is_back else besides.add(measured)


def _aged(world: network.NetworkWorld) -> network.NetworkWorld:
    """Return a world of which a few paths deliver out of order, and a few hosts have timestamps off."""
    source = random.Random(f"{world.seed} late")  # noqa: S311 - a simulation, not a secret
    late = 10 ** source.uniform(-4, -2) if source.random() < 0.06 else 0.0
    client, server = (
        dataclasses.replace(host, sysctls={**host.sysctls, tcp.TIMESTAMPS: "0"}) if source.random() < 0.04 else host
        for host in (world.client, world.server)
    )
    return dataclasses.replace(world.with_hosts(client, server), way=dataclasses.replace(world.way, late=late))


def _among_others(world: network.NetworkWorld, source: random.Random) -> network.NetworkWorld:
    """Return a world asked for by either end, with datagrams of a length, bursts of loss, and others' flows on it."""
    is_crowded = source.random() < 0.1
    return dataclasses.replace(
        world,
        is_back=source.random() < 0.3,
        length=source.choice((64, 200, 512, 1448)) if source.random() < 0.3 else world.length,
        has_bursts=source.random() < 0.2,
        way=dataclasses.replace(world.way, others=source.choice((3, 9, 20)) if is_crowded else 0),
    )


def _storage(seed: int, noise: Noise, repetitions: int, source: random.Random) -> World:
    return files.measure(storage.draw(seed, noise, min(repetitions, 10), source), source)


FAMILIES: dict[str, tuple[float, Callable[[int, Noise, int, random.Random], World]]] = {
    "network": (0.6, _network),
    "storage": (0.3, _storage),
    "messages": (0.1, messages.world),
}


def world_of(seed: int, family: str = "") -> World:
    """Return the world of a seed, of one family if it is named."""
    source = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    kind = NORMAL if source.random() < 0.45 else source.choice(KINDS)
    noise = Noise(kind, source.choice(SIZES))
    repetitions = source.choice(REPETITIONS)
    names = list(FAMILIES)
    drawn = source.choices(names, [FAMILIES[name][0] for name in names])[0]
    return FAMILIES[family or drawn][1](seed, noise, repetitions, source)
