"""What is full at the receiver or on the way, or looks so: a slow reader, a standing queue, a clamp of each window.

They are drawn by themselves: what else a seed gives stays as it was.
"""

import dataclasses
import math
import random

from benchmarks.truth.worlds import network, tcp
from benchmarks.truth.worlds.network import NetworkWorld

# These shares of the worlds have a receiver that reads slowly, a queue that stands, and a clamp of each window.
SLOW, STANDING, CLAMPED = 0.08, 0.1, 0.06
# No clamp is smaller (B).
LEAST_CLAMP = 8192


def filled(world: NetworkWorld) -> NetworkWorld:
    """Return a world whose receiver reads slowly, whose flows keep a queue standing, or whose windows are clamped.

    The kernels of both ends let a window grow far beyond what either has.
    """
    source = random.Random(f"{world.seed} full")  # noqa: S311 - a simulation, not a secret
    drawn = source.random()
    if drawn >= SLOW + STANDING + CLAMPED or world.way.is_black_hole:
        return world
    tuned = _tuned(world, source)
    if drawn >= SLOW + STANDING:
        return _clamped(tuned, source)
    return _read_slowly(tuned, source) if drawn < SLOW else _standing(tuned, source)


def _tuned(world: NetworkWorld, source: random.Random) -> NetworkWorld:
    receive, send = source.choice(network.LIMITS[-2:])
    limits = {
        tcp.RMEM: " ".join(map(str, receive)),
        tcp.WMEM: " ".join(map(str, send)),
        tcp.SCALING: "1",
        tcp.TUNING: "1",
    }
    hosts = [dataclasses.replace(host, sysctls={**host.sysctls, **limits}) for host in (world.client, world.server)]
    return world.with_hosts(*hosts)


def _read_slowly(world: NetworkWorld, source: random.Random) -> NetworkWorld:
    """Return the world with a receiving program, or a disk beneath it, that takes less than all else would let it."""
    free = world.reach({}).rate
    takes = free * source.uniform(0.1, 0.75)
    # What is sampled of a window that closes and opens is at most what was offered before it closed.
    offers = source.uniform(1.05, 1.5) if source.random() < 0.6 else source.uniform(1.5, 6)
    server = dataclasses.replace(world.server, takes_bps=takes, offers=offers)
    world = world.with_hosts(world.client, server)
    return dataclasses.replace(world, drain_bps=min(world.drain_bps, takes))


def _clamped(world: NetworkWorld, source: random.Random) -> NetworkWorld:
    """Return the world with a clamp of each connection's window that leaves it less than all else would let it."""
    free = world.reach({})
    clamp = max(LEAST_CLAMP, free.rate * free.rtt_s / 8 * source.uniform(0.05, 0.7))
    server = dataclasses.replace(world.server, clamp=clamp, is_on_route=source.random() < 0.5)
    return world.with_hosts(world.client, server)


def _standing(world: NetworkWorld, source: random.Random) -> NetworkWorld:
    """Return the world with a long queue before its bottleneck, which flows fill, at times with those of others."""
    standing = source.uniform(0.6, 2.5)
    way = dataclasses.replace(
        world.way,
        loss=0.0,
        late=0.0,
        standing=standing,
        queue_bytes=max(1.0, standing) * world.bdp_bytes,
        others=source.choice((3, 9)) if source.random() < 0.4 else world.way.others,
        shaper_bps=math.inf,
        policer_bps=math.inf,
    )
    return dataclasses.replace(world, way=way)
