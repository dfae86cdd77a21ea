"""The core law of a transfer: it runs at the least of what its parts allow, and that part is its limit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench import network

CAPACITY, WINDOW, LOSS, FLOW, DISK = "capacity", "window", "loss", "flow", "disk"
# Mathis, Semke, Mahdavi, Ott (1997): sqrt(3/2) for periodic loss with an acknowledgement of each segment.
MATHIS = math.sqrt(1.5)
# The constant of CUBIC's mean window, from its C and β.
CUBIC = (0.4 * 3.7 / (4 * 0.3)) ** 0.25
USUAL_MTU = 1500


@dataclass(frozen=True)
class Term:
    """What one part of a transfer allows (bit/s), by name."""

    name: str
    rate_bps: float


def terms(
    *,
    capacity_bps: float | None = None,
    mtu: int | None = None,
    rtt_s: float | None = None,
    window_bytes: float | None = None,
    streams: int = 1,
    loss: float | None = None,
    mss: float | None = None,
    flow_bps: float | None = None,
    disk_bytes_per_s: float | None = None,
) -> tuple[Term, ...]:
    """Return the terms of X = min(η C, N W 8 / RTT, N (MSS 8 / RTT) c / √p, N F, 8 B), the least first.

    Capacity C (bit/s) at the line, MTU (B, 1500 if unknown), idle RTT (s), usable window W of each of N streams (B),
    probability p that a segment is lost, MSS (B), the cap F of each flow (bit/s), and the disks' rate B (B/s). A
    term whose parts are unknown is left out: it may still be the limit.
    """
    rates = {
        CAPACITY: capacity_bps and capacity_bps * network.tcp_efficiency(mtu or USUAL_MTU),
        WINDOW: network.window_limited_bps(window_bytes, rtt_s, streams),
        LOSS: mathis_bps(mss, rtt_s, loss, streams),
        FLOW: flow_bps and streams * flow_bps,
        DISK: disk_bytes_per_s and 8 * disk_bytes_per_s,
    }
    return tuple(sorted((Term(name, rate) for name, rate in rates.items() if rate), key=lambda term: term.rate_bps))


def gain(ordered: Sequence[Term]) -> float | None:
    """Return by how many times the rate grows at most when its limit is taken away: second least over least."""
    return ordered[1].rate_bps / ordered[0].rate_bps if len(ordered) > 1 else None


def mathis_bps(mss: float | None, rtt_s: float | None, loss: float | None, streams: int = 1) -> float | None:
    """Return the rate (bit/s) that random loss leaves to Reno: N (MSS 8 / RTT) c / √p; None without loss or a part.

    For several streams as long as the loss does not come of themselves (Hacker, Athey, Noble, 2002). Not for BBR,
    and too little for CUBIC where the BDP is large.
    """
    if not mss or not rtt_s or not loss:
        return None
    return streams * mss * 8 / rtt_s * MATHIS / math.sqrt(loss)


def cubic_bps(mss: float | None, rtt_s: float | None, loss: float | None, streams: int = 1) -> float | None:
    """Return the rate (bit/s) that random loss leaves to CUBIC (RFC 9438, section 5.1): at least Reno's.

    Its mean window is (C (3 + β) / (4 (1 - β)))^(1/4) (RTT / p)^(3/4) segments with C = 0.4 and β = 0.7.
    """
    reno = mathis_bps(mss, rtt_s, loss, streams)
    if reno is None or not mss or not rtt_s or not loss:
        return None
    return max(reno, streams * CUBIC * (rtt_s / loss) ** 0.75 * mss * 8 / rtt_s)


def mathis_loss(rate_bps: float, mss: float, rtt_s: float) -> float:
    """Return the loss at which one Reno stream has a rate (bit/s): the law of Mathis turned round, at most 1."""
    return min(1.0, (mss * 8 / rtt_s * MATHIS / rate_bps) ** 2)


def shallow_share(streams: int) -> float:
    """Return the share of a path that N Reno streams fill where its queue holds nothing: 1 - 1 / (1 + 3 N).

    Altman, Barman, Tuffin, Vojnović, Parallel TCP Sockets (2006); a queue of a BDP makes it 1 for any N.
    """
    return 1 - 1 / (1 + 3 * streams)


def synchronous_bytes_per_s(size_bytes: float, wait_s: float, bytes_per_s: float | None = None) -> float:
    """Return the rate (B/s) of records or messages of a size sent one after the other: b / (t + b / C)."""
    return size_bytes / (wait_s + (size_bytes / bytes_per_s if bytes_per_s else 0.0))
