"""The path's capacity by each means there is, brought to the same footing: the rate at the line."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

from apps.bench import network
from apps.bench.network import rfc6349
from apps.bench.rules import pace
from apps.bench.rules.base import Evidence, Point
from apps.bench.rules.layers.days import when_of
from apps.bench.rules.readings import read_once
from apps.bench.rules.shapes.apart import PRINTED
from apps.bench.rules.tcp import estimates, held, lines
from apps.bench.rules.tcp.scatter import mean
from apps.bench.rules.tcp.sweeps import how_of, tcp_points
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

USUAL_MTU = 1500
UDP, DISPERSION, TCP, AVAILABLE, ELSEWHERE = "udp", "dispersion", "tcp", "available", "elsewhere"
# Two figures of the capacity that differ by no more bear each other out.
AGREE = 0.15
# Datagrams whose headers take so much more of the line than of those that fill a frame tell no rate of the path.
SHORT = 0.02


@dataclass(frozen=True)
class Estimate:
    """A capacity (bit/s) by one means, from `low` to `high`; `is_bound` if it can only be more.

    `is_held` says that a judge saw an end set the pace: it came through, but is no evidence of what the path holds.
    `how` are the streams of TCP, as they stand behind the rate.
    """

    means: str
    low: float
    high: float
    trials: tuple[int, ...]
    is_bound: bool = False
    is_held: bool = False
    how: str = ""


@read_once
def of_way(evidence: Evidence) -> Evidence:
    """Return all that was measured the same way between the two nodes: which of a tool's roles sends is its own."""
    others = [item for item in evidence.beside if evidence.way and item.way == evidence.way]
    points = (*evidence.points, *(point for item in others for point in item.points))
    return replace(evidence, points=points) if others else evidence


def is_told_beside(evidence: Evidence) -> bool:
    """Return whether the capacity of the way is told where it was measured in other roles, which is asked first."""
    return any(
        evidence.way and item.way == evidence.way and read_means(item) for item in evidence.beside[: evidence.elder]
    )


def read_means(evidence: Evidence) -> list[Estimate]:
    """Return what each means tells, the most trusted first."""
    candidates = [_by_udp(evidence), _by_dispersion(evidence), _by_tcp(evidence), _by_streams_of_probes(evidence)]
    own = [estimate for estimate in candidates if estimate is not None]
    others = _by_others(evidence)
    return [*own, others] if own and others else own


def is_borne_out(evidence: Evidence, estimate: Estimate, readings: list[Estimate]) -> bool:
    """Return whether a means finds the capacity of the path, not only what one flow can have of it.

    Dispersion does. The loads of one flow of UDP do where the links are said to have as much, dispersion tells it,
    or several streams of TCP level off there.
    """
    if estimate.means != UDP:
        return True
    rates = [item.high for item in readings if item.means == DISPERSION]
    rates += [evidence.path.capacity_bps] if evidence.path.capacity_bps else []
    level = held.plateau_of(evidence)
    rates += [level.rate] if level else []
    own = estimate.high, at_line(evidence, estimate)
    return any(abs(math.log(rate / value)) <= math.log1p(AGREE) for rate in rates for value in own)


def _by_udp(evidence: Evidence) -> Estimate | None:
    """Return UDP's: at least the highest load without loss, less than the least with it; None if nothing was lost."""
    bounds = estimates.by_udp(evidence)
    return Estimate(UDP, bounds.low, bounds.high, bounds.trials) if bounds else None


def _by_dispersion(evidence: Evidence) -> Estimate | None:
    dispersion = estimates.by_dispersion(evidence)
    return Estimate(DISPERSION, dispersion.low, dispersion.high, dispersion.trials) if dispersion else None


def _by_tcp(evidence: Evidence) -> Estimate | None:
    """Return the best goodput of TCP: the path holds at least so much."""
    points = [point for point in tcp_points(evidence) if point.values("goodput")]
    best = max(points, key=lambda point: mean(point.values("goodput")), default=None)
    if best is None:
        return None
    rate = mean(best.values("goodput"))
    return Estimate(
        TCP, rate, rate, best.trials("goodput"), is_bound=True, is_held=bool(pace.flags_of(best)), how=how_of(best)
    )


def _by_streams_of_probes(evidence: Evidence) -> Estimate | None:
    """Return the available bandwidth (pathload): with other traffic away it is the capacity, else less."""
    points = [point for point in evidence.points if point.values(estimates.AVAILABLE) and not pace.flags_of(point)]
    if not points:
        return None
    names = "available_low", estimates.AVAILABLE, "available_high"
    ends = [value for point in points for value in estimates.ends_of(point, *names)]
    trials = sorted({trial for point in points for trial in point.trials(estimates.AVAILABLE)})
    return Estimate(AVAILABLE, min(ends), max(ends), tuple(trials), is_bound=True) if ends else None


def _by_others(evidence: Evidence) -> Estimate | None:
    """Return what came through in another campaign: the path holds at least so much, if it is the same still."""
    passed = evidence.elsewhere
    return Estimate(ELSEWHERE, passed.rate_bps, passed.rate_bps, (), is_bound=True) if passed else None


def at_line(evidence: Evidence, estimate: Estimate) -> float:
    """Return an estimate as the rate (bit/s) at the line: payload with its headers, dispersion as it is.

    Where neither segments nor the MTU are known headers are those of the largest usual frames, and where it is not
    known what carried it those of datagrams: the line carried so much at least.
    """
    mtu = evidence.path.mtu or USUAL_MTU
    if estimate.means == TCP:
        return lines.of_tcp(evidence, estimate.high)
    if estimate.means == ELSEWHERE:
        return lines.of_others(evidence, estimate.high)
    if estimate.means == UDP:
        return rfc6349.line_rate_bps(estimate.high, datagram_of(evidence, mtu), mtu)
    return estimate.high


def span_at_line(evidence: Evidence, estimate: Estimate) -> tuple[float, float]:
    """Return both ends of an estimate as rates (bit/s) at the line."""
    return at_line(evidence, replace(estimate, high=estimate.low)), at_line(evidence, estimate)


def short_datagram_of(evidence: Evidence) -> int | None:
    """Return the length (B) of UDP's datagrams where headers take more than of those that fill a frame."""
    mtu = evidence.path.mtu or USUAL_MTU
    length = datagram_of(evidence, mtu)
    is_short = network.transport.line_bytes(length, mtu) > (1 + SHORT) / network.transport.udp_efficiency(mtu)
    return length if is_short and estimates.udp_points(evidence) else None


def other_times(evidence: Evidence) -> list[Message]:
    """Return that the same loads of UDP arrived otherwise in other experiments: nothing is averaged over them."""
    others = estimates.of_other_times(evidence)
    if not others:
        return []
    text = _(
        "UDP: at another time %(rate)s arrived at most of datagrams as long, and what had come through whole did not:"
        " what is told here is of the time when most arrived."
    )
    return [Message(text, {"rate": format_quantity(min(item.rate for item in others), "bit/s")})]


def applies_when(evidence: Evidence, trials: Collection[int]) -> Message:
    """Return what a capacity is said of: the path, and when these trials were measured, where that is known.

    Another campaign may tell another capacity of the same path: each is that of its day.
    """
    own = {*trials}
    points = [
        point for point in evidence.points if any(not own.isdisjoint(values) for values in point.metrics.values())
    ]
    # What is published was recorded here on a day that says nothing of it.
    is_printed = any(PRINTED in point.observed for point in points)
    day = "" if is_printed else when_of(points).day
    text = _("This path and direction, with the traffic of others that there was.")
    if day:
        text = _("This path and direction on %(day)s (UTC), with the traffic of others that there was.")
    return Message(text, {"day": day} if day else {})


def datagram_of(evidence: Evidence, mtu: int = USUAL_MTU) -> int:
    """Return the payload (B) of the datagrams of UDP's loads, one that fills a frame where it is not told."""
    lengths = {length for point in estimates.udp_points(evidence) if (length := _length(point))}
    return min(lengths) if lengths else mtu - network.transport.IPV4_BYTES - network.transport.UDP_BYTES


def _length(point: Point) -> int:
    length = point.parameters.get("length")
    return int(length) if isinstance(length, int | float) and length > 0 else 0
