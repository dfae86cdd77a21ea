"""What tools measure of a network world: TCP over windows, streams and controls, UDP over loads, and probes."""

import dataclasses
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.truth.worlds import tcp, udp
from benchmarks.truth.worlds.base import Cell, Setup, Trial
from benchmarks.truth.worlds.network import CLIENT, SERVER, NetworkWorld
from benchmarks.truth.worlds.noise import draw, steady

ROLES = {CLIENT: (CLIENT,), SERVER: (SERVER,)}
DURATION = 10.0
WINDOWS = tuple(16384 * 2**step for step in range(11))
STREAMS = (1, 2, 4, 8, 16, 32, 64)
# A processor above this load is flagged as full.
FULL = 0.97


def measure(world: NetworkWorld, source: random.Random) -> NetworkWorld:
    """Return the world with what a team measured in it: by chance some of the tools and sweeps."""
    setups = [_ping(world, source)] if source.random() < 0.85 else []
    is_observed = source.random() < 0.75
    wants = [source.random() < chance for chance in (0.5, 0.5, 0.45, 0.15, 0.4, 0.2, 0.25)]
    if not any(wants[:3]):
        wants[0] = True
    if wants[0]:
        setups.append(_tcp("Automatic window", world, [{}], (), source, is_observed))
    if wants[1]:
        least = source.randrange(3)
        windows = WINDOWS[least : least + source.choice((5, 7, 9))]
        values = [0, *windows] if source.random() < 0.6 else windows
        setups.append(_tcp("Windows", world, [{"window": size} for size in values], ("window",), source, is_observed))
    if wants[2]:
        counts = STREAMS[: source.choice((3, 4, 5, 6, 7))]
        setups.append(
            _tcp("Streams", world, [{"streams": count} for count in counts], ("streams",), source, is_observed)
        )
    if wants[3]:
        points = [{"congestion": name} for name in ("cubic", "reno", "bbr")]
        setups.append(_tcp("Controls", world, points, ("congestion",), source, is_observed))
    if wants[4]:
        setups.append(_udp(world, source))
    if wants[5]:
        setups.append(_pathrate(world, source))
    if wants[6]:
        setups.append(_tracepath(world))
    if source.random() < 0.06:
        world = dataclasses.replace(world, traits=(*world.traits, "invalid-figures"))
        setups = [_spoil(item, source) if item.tool.startswith("iperf3") else item for item in setups]
    if world.noise.kind == "busy":
        world = dataclasses.replace(world, traits=(*world.traits, "busy"))
    return dataclasses.replace(world, setups=tuple(setups))


def _spread(world: NetworkWorld, points: int, source: random.Random) -> list[list[tuple[float, bool]]]:
    """Return the noise of each point's repetitions; blocks of all points follow one another in time."""
    factors, hits = draw(world.noise, points * world.repetitions, source)
    pairs = list(zip(factors, hits, strict=True))
    return [pairs[place::points] for place in range(points)]


def _tcp(
    name: str,
    world: NetworkWorld,
    points: Sequence[Mapping[str, Any]],
    factors: tuple[str, ...],
    source: random.Random,
    is_observed: bool,
) -> Setup:
    cells = []
    for point, noise in zip(points, _spread(world, len(points), source), strict=True):
        parameters = {"duration": DURATION, **point}
        reached = world.reach(parameters)
        truth = {"goodput": reached.rate}
        trials = [_tcp_trial(world, parameters, reached, factor, hit, source, is_observed) for factor, hit in noise]
        cells.append(Cell(parameters, truth, trials))
    return Setup(name, "iperf3-tcp", ROLES, cells, factors)


def _tcp_trial(
    world: NetworkWorld, parameters: Mapping[str, Any], reached: tcp.Reached, factor: float, hit: bool,
    source: random.Random, is_observed: bool,
) -> Trial:  # fmt: skip
    # A path that is full scatters less than what leaves room on it.
    is_steady = reached.limit == tcp.PATH and not hit
    rate = reached.rate * (1 + (factor - 1) * (steady(world.noise) if is_steady else 1))
    streams = int(parameters.get("streams") or 1)
    sent = rate * DURATION / 8
    again = _poisson(reached.lost * sent / reached.mss, source)
    if world.has_bursts:
        again += streams * source.randint(10, 40)
    busy = min(1.0, reached.rate / reached.terms[tcp.PROCESSOR])
    ends = [min(1.0, rate / min(streams * host.flow_bps, host.host_bps)) for host in (world.client, world.server)]
    figures = {
        "goodput": rate,
        "sent_rate": rate * 1.003,
        "retransmits": float(again),
        "window_observed": reached.advertised * source.uniform(0.995, 1.0),
        "cwnd_max": min(reached.window, reached.advertised) * source.uniform(1.0, 1.5),
        "min_rtt": world.way.rtt_s * source.uniform(1.0, 1.02),
        "mean_rtt": reached.rtt_s * source.uniform(1.0, 1.03),
        "max_rtt": reached.rtt_s * source.uniform(1.05, 1.5),
        "fairness": 1.0 if streams == 1 else source.uniform(0.94, 1.0),
        "cpu_local": 100 * ends[0] * source.uniform(0.95, 1.0),
        "cpu_remote": 100 * ends[1] * source.uniform(0.95, 1.0),
    }
    if reached.granted is not None:
        figures["window_granted"] = reached.granted
    flags: list[tuple[str, str, tuple[str, ...]]] = []
    if busy >= FULL or hit:
        flags.append(("processor-full", "info", ()))
    if hit:
        flags.append(("not-steady", "warning", ("goodput",)))
    if reached.limit == tcp.HOLE:
        flags.append(("stalled", "warning", ()))
    if reached.granted is not None and reached.granted < int(parameters["window"]):
        flags.append(("window-not-granted", "invalid", ()))
    elif reached.is_capped:
        flags.append(("window-capped", "warning", ()))
    return Trial(figures, tuple(flags), _observed(world, parameters, reached, sent, again, is_observed))


def _observed(
    world: NetworkWorld,
    parameters: Mapping[str, Any],
    reached: tcp.Reached,
    sent: float,
    again: int,
    is_observed: bool,
) -> dict[str, Any]:
    """Return what the tool and, if it was asked, the kernel told of the connections."""
    observed: dict[str, Any] = {"mss": reached.first_mss}
    if not is_observed:
        return observed
    waits = [name for name in (tcp.WINDOW, tcp.READER) if reached.is_limit(name, 0.03)]
    waited = 0.9 if reached.limit in waits else 0.45 if waits else 0.0
    observed["tcp"] = {
        "connections": int(parameters.get("streams") or 1),
        "bytes_sent": int(sent),
        "busy": DURATION,
        "receiver_window_limited": 0.0 if reached.at_sender else waited,
        "send_buffer_limited": waited if reached.at_sender else 0.0,
        "congestion_window_limited": 1 - waited,
        "retransmits": again,
        "bytes_retransmitted": again * reached.mss,
        "min_rtt": world.way.rtt_s,
        "mean_rtt": reached.rtt_s,
        "mss": reached.mss,
        "path_mtu": reached.first_mss + tcp.HEADERS if world.way.is_black_hole else reached.mss + tcp.HEADERS,
        "congestion": str(parameters.get("congestion") or world.client.sysctls[tcp.CONTROL]),
        "nodes": [CLIENT],
    }
    return observed


def _udp(world: NetworkWorld, source: random.Random) -> Setup:
    most = udp.payload_rate(world.client, world.server, world.way, world.length)
    shares = sorted(source.sample((0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0, 1.1, 1.3, 1.6), source.choice((3, 4, 5, 6))))
    cells = []
    noises = _spread(world, len(shares), source)
    # Drawn by themselves: what else a seed gives stays as it was.
    bursts = random.Random(f"{world.seed} bursts of datagrams")  # noqa: S311 - a simulation, not a secret
    for share, noise in zip(shares, noises, strict=True):
        rate = float(round(share * most, -5)) or 1e5
        arrived = udp.offer(world.client, world.server, world.way, rate, world.length, world.drain_bps)
        parameters = {"rate": int(rate), "length": world.length, "duration": DURATION}
        truth = {"goodput": arrived.goodput, "offered_load": arrived.offered, "loss": arrived.loss}
        trials = [_udp_trial(arrived, world.length, world.way.late, hit, source) for _factor, hit in noise]
        if world.has_bursts:
            trials = _with_burst(trials, bursts)
        cells.append(Cell(parameters, truth, trials))
    return Setup("Loads of UDP", "iperf3-udp", ROLES, cells, ("rate",))


def _udp_trial(arrived: udp.Arrived, length: int, late: float, hit: bool, source: random.Random) -> Trial:
    offered = arrived.offered * source.uniform(0.998, 1.0)
    # Losses are counted: ten seconds of packets leave little chance, a busy receiver adds its own.
    packets = offered * DURATION / 8 / length
    loss = min(1.0, _poisson(arrived.loss * packets, source) / packets) + (source.uniform(0.01, 0.2) if hit else 0.0)
    loss = min(loss, 1.0)
    flags: list[tuple[str, str, tuple[str, ...]]] = []
    if arrived.sender_full:
        flags += [("sender-too-slow", "warning", ()), ("processor-full", "info", ())]
    if arrived.receiver_full or hit:
        flags.append(("receive-buffer-full", "warning", ()))
    figures = {
        "goodput": offered * (1 - loss), "offered_load": offered, "loss": loss,
        "jitter": arrived.jitter_s * source.uniform(0.7, 1.3), "out_of_order": round(late * packets),
    }  # fmt: skip
    return Trial(figures, tuple(flags))


def _with_burst(trials: Sequence[Trial], source: random.Random) -> list[Trial]:
    """Return runs of a load of which one, at times, loses some per cent of its datagrams at once."""
    hit = source.choice((None, source.randrange(len(trials))))
    share = source.uniform(0.006, 0.06)
    return [_losing(trial, share) if place == hit else trial for place, trial in enumerate(trials)]


def _losing(trial: Trial, share: float) -> Trial:
    loss = trial.figures["loss"] + share * (1 - trial.figures["loss"])
    figures = {"loss": loss, "goodput": trial.figures["offered_load"] * (1 - loss)}
    return dataclasses.replace(trial, figures={**trial.figures, **figures})


def _ping(world: NetworkWorld, source: random.Random) -> Setup:
    rtt = world.way.rtt_s
    trials = []
    for _turn in range(world.repetitions):
        least = rtt * (1 + abs(source.gauss(0, 0.005))) + 1e-5
        trials.append(Trial({"rtt_min": least, "rtt_mean": least * 1.03, "rtt_max": least * 1.2, "loss": 0.0}))
    return Setup("Round trips", "ping", ROLES, [Cell({"count": 20}, {"rtt_min": rtt}, trials)])


def _pathrate(world: NetworkWorld, source: random.Random) -> Setup:
    """Return packet dispersion: near the narrowest link, or misled and unsure; shapers of flows it does not see."""
    misled = source.random() < 0.25
    true = world.capacity_bps
    trials = []
    for _turn in range(world.repetitions):
        middle = true * (source.uniform(1.4, 4) if misled else source.uniform(0.97, 1.02))
        width = 0.3 if misled else 0.03
        figures = {
            "capacity_low": middle * (1 - width / 2), "capacity_high": middle * (1 + width / 2), "capacity": middle,
            "variation": source.uniform(0.35, 0.8) if misled else source.uniform(0.02, 0.2),
            "rtt_mean": world.way.rtt_s * 1.05,
        }  # fmt: skip
        trials.append(Trial(figures))
    return Setup("Packet dispersion", "pathrate", ROLES, [Cell({}, {"capacity": true}, trials)])


def _tracepath(world: NetworkWorld) -> Setup:
    hosts = min(world.client.mtu, world.server.mtu)
    # In a black hole nothing comes back that would tell.
    mtu = hosts if world.way.is_black_hole else min(hosts, world.way.mtu)
    trials = [Trial({"path_mtu": float(mtu)}) for _turn in range(world.repetitions)]
    return Setup("Path MTU", "tracepath", ROLES, [Cell({}, {"path_mtu": float(mtu)}, trials)])


def _spoil(setup: Setup, source: random.Random) -> Setup:
    """Return the experiment with some trials that a judge found invalid: their figures are far off."""
    cells = [dataclasses.replace(cell, trials=list(_spoilt(cell.trials, source))) for cell in setup.cells]
    return dataclasses.replace(setup, cells=cells)


def _spoilt(trials: Iterable[Trial], source: random.Random) -> Iterable[Trial]:
    for trial in trials:
        if source.random() > 0.25:
            yield trial
            continue
        flag = source.choice((("stalled", "invalid", ("goodput",)), ("too-short", "invalid", ())))
        figures = {**trial.figures, "goodput": trial.figures["goodput"] * source.choice((0.1, 0.3, 3.0))}
        yield dataclasses.replace(trial, figures=figures, flags=(*trial.flags, flag))


def _poisson(mean: float, source: random.Random) -> int:
    """Return a count that scatters about its mean."""
    if mean > 50:
        return max(0, round(source.gauss(mean, mean**0.5)))
    count, product, least = 0, source.random(), 2.718281828459045**-mean
    while product > least:
        count += 1
        product *= source.random()
    return count
