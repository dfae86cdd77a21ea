"""How TCP does now: with the kernel's own settings and no window asked for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.bench import network
from apps.bench.rules import presence
from apps.bench.rules.base import Evidence, Point
from apps.bench.rules.readings import read_once
from apps.bench.rules.tcp import sysctl
from apps.bench.rules.tcp.levels import duration_of
from apps.bench.rules.tcp.reordering import Order, read_order
from apps.bench.rules.tcp.sweeps import HOLDING, foreignness, tcp_points
from apps.bench.rules.told import known_or_none
from apps.bench.sweep import setting_names

# The share of a buffer that becomes window, measured on kernel 6.18: the rest is overhead of the buffers.
SHARE_JUMBO, SHARE_USUAL = 0.70, 0.62
RMEM, WMEM, SCALING = "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_window_scaling"
# The largest window without window scaling (RFC 7323), which any kernel has.
UNSCALED = 65_535
# Share of its time that a connection waited for a window, from which the window is the limit.
WAITED = 0.5
# A window that was offered, or may grow to, so many times what is on the way was not what held it.
UNUSED = 2.0
# An RTT under load this many times the least, or another's, is that of a queue that stands.
STANDS = 1.5


@dataclass(frozen=True)
class Present:
    """One setting's trials together: its mean rate (bit/s) and what the kernel saw of its connections."""

    point: Point
    rate: float
    streams: int
    # In which order datagrams came on its path, where that was counted.
    order: Order | None = None
    # What the sender's own buffer lets be on the way (B), where its agent told its limits and nothing was asked for.
    most_sent: float = math.inf
    # What the receiver's kernel surely lets its window grow to (B), 0 where a window was asked for.
    least_offered: float = 0.0

    @property
    def trials(self) -> tuple[int, ...]:
        """Return the ids of its trials."""
        return self.point.trials("goodput")

    @property
    def kernel(self) -> Mapping[str, Any]:
        """Return what the kernel's list of sockets told of the last trial; {} if it was not asked."""
        sockets = self.point.observed.get("tcp")
        return sockets if isinstance(sockets, dict) else {}

    @property
    def mss(self) -> float | None:
        """Return the largest segment (B) that was seen, by the tool or the kernel."""
        sizes = (self.point.observed.get("mss"), self.kernel.get("mss"))
        return next((float(value) for value in sizes if isinstance(value, int | float) and value > 0), None)

    @property
    def last_mss(self) -> float | None:
        """Return the segment (B) that connections ended with, where the kernel told; else what the tool saw."""
        sizes = (self.kernel.get("mss"), self.point.observed.get("mss"))
        return next((float(value) for value in sizes if isinstance(value, int | float) and value > 0), None)

    @property
    def waited(self) -> float | None:
        """Return the share of its time that a connection waited for a window, None if the kernel was not asked."""
        waits = [self.kernel.get(name) for name in ("receiver_window_limited", "send_buffer_limited")]
        shares = [wait for wait in waits if isinstance(wait, int | float)]
        return sum(shares) if shares else None

    @property
    def waits_for_receiver(self) -> bool:
        """Return whether the kernel waited for the receiver's window most of its time."""
        wait = self.kernel.get("receiver_window_limited")
        return isinstance(wait, int | float) and wait >= WAITED

    def is_read_slowly(self, rtt_s: float) -> bool:
        """Return whether the receiver's window, not the sender's own, could be far larger than what is on the way.

        Kernels grow a buffer as its program reads; one that offers far more than it got holds back nothing either:
        its buffer is full.
        """
        if self.is_of_sender if self.waited is None else not self.waits_for_receiver:
            return False
        # Of one run alone the mean may be of a part in which nothing came.
        observed = (self.mean("window_observed") or 0.0) if len(self.trials) > 1 else 0.0
        room = max(self.least_offered, observed)
        return room >= UNUSED * self.window(self.mean("mean_rtt") or rtt_s)

    @property
    def has_queue(self) -> bool:
        """Return whether packets wait in a queue: their RTT is much longer than when nothing is sent."""
        idle, loaded = self.mean("min_rtt"), self.mean("mean_rtt")
        return bool(idle and loaded and loaded >= STANDS * idle)

    @property
    def congestion(self) -> str:
        """Return the congestion control, as far as it is known."""
        return str(self.kernel.get("congestion") or self.point.parameters.get("congestion") or "")

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric over the trials, None without any."""
        values = self.point.values(metric)
        return sum(values) / len(values) if values else None

    def window(self, rtt_s: float) -> float:
        """Return how much of each connection was under way in each RTT (B): X RTT / 8 / N."""
        return self.rate * rtt_s / 8 / self.streams

    @property
    def window_used(self) -> float | None:
        """Return the window (B) that a connection can use: what its peer offered, as far as the sender holds it."""
        offered = self.mean("window_observed")
        return min(offered, self.most_sent) if offered else None

    @property
    def is_of_sender(self) -> bool:
        """Return whether the sender's own buffer bounds the window, and not what its peer offered."""
        return (self.mean("window_observed") or 0.0) > self.most_sent

    def allowed(self, rtt_s: float) -> float | None:
        """Return the rate (bit/s) that the windows in use allow, at the mean RTT under load where it is known."""
        rtt = self.mean("mean_rtt") or rtt_s
        return network.window_limited_bps(self.window_used, rtt, self.streams)

    @property
    def lost_share(self) -> float | None:
        """Return the share of segments that were sent again (0 to 1), None if nobody counted."""
        again, payload = self.kernel.get("bytes_retransmitted"), self.kernel.get("bytes_sent")
        segments, seconds = self.mean("retransmits"), self.point.parameters.get("duration")
        # A kernel that says none where the tool counted some was asked too early, or of another connection.
        if isinstance(again, int | float) and isinstance(payload, int | float) and payload > 0:
            share = min(1.0, again / payload)
            if share or not segments:
                return share
        if segments is None or not seconds:
            return None
        return min(1.0, segments * (self.last_mss or 1448) / (self.rate * float(seconds) / 8))

    @property
    def may_be_late(self) -> bool | None:
        """Return whether what was sent again may have come late, and not been lost; None if datagrams do not tell."""
        return self.order.explains(self.lost_share or 0.0) if self.order else None


@read_once
def read_all(evidence: Evidence) -> tuple[Present, ...]:
    """Return every TCP setting of the way that is asked: fewest streams first, then longest runs, most trials."""
    readings = [
        Present(
            point,
            sum(rates) / len(rates),
            int(point.parameters.get("streams") or 1),
            read_order(evidence),
            most_sent(evidence, point),
            least_offered(evidence, point),
        )
        for point in tcp_points(evidence)
        if evidence.is_of_way(point) and (rates := point.values("goodput"))
    ]
    return tuple(sorted(readings, key=_order))


def most_sent(evidence: Evidence, point: Point) -> float:
    """Return how much (B) of a stream the sender's own buffer lets be on the way; inf where that is not known."""
    if point.parameters.get("window") or not is_plain(point):
        return math.inf
    sizes = sysctl.read_sysctls(evidence, evidence.sender).get(WMEM, "").split()
    return SHARE_JUMBO * int(sizes[2]) if len(sizes) == 3 else math.inf


def least_offered(evidence: Evidence, point: Point) -> float:
    """Return the window (B) that the receiver's kernel surely lets grow where none was asked for, else 0."""
    if point.parameters.get("window") or not is_plain(point):
        return 0.0
    # Both ends must scale: who is not known to may have been seen to.
    is_scaled = sysctl.read_sysctls(evidence, evidence.sender).get(SCALING) == "1"
    is_scaled = is_scaled or max(point.values("window_observed"), default=0.0) > UNSCALED
    least = least_window(evidence, evidence.receiver, RMEM)
    return least if is_scaled else min(least, UNSCALED)


def least_window(evidence: Evidence, role: str, name: str) -> float:
    """Return the window (B) that a node's kernel has at least, or surely lets one grow to.

    Of a buffer a half at least is window; a receiver's grows only where that is known to be on.
    """
    sysctls = sysctl.read_sysctls(evidence, role)
    sizes = [int(word) for word in sysctls.get(name, "").split() if word.isdigit()]
    if len(sizes) != 3:
        return UNSCALED
    size = sizes[2] if name == WMEM or sysctls.get("net.ipv4.tcp_moderate_rcvbuf") == "1" else sizes[1]
    return size / 2 if sysctls.get(SCALING) == "1" else min(size / 2, UNSCALED)


def _order(present: Present) -> tuple[int, float, int]:
    return present.streams, -duration_of(present.point), -len(present.trials)


def is_plain(point: Point) -> bool:
    """Return whether a point was measured with the nodes' own settings."""
    return not any(setting_names.is_setting(name) for name in point.parameters)


def is_automatic(parameters: Mapping[str, Any]) -> bool:
    """Return whether a setting is that of one stream which asks for nothing."""
    asked = ("window", *HOLDING)
    is_own = not any(setting_names.is_setting(name) for name in parameters)
    return is_own and parameters.get("streams", 1) == 1 and not any(known_or_none(parameters, name) for name in asked)


def read_present(evidence: Evidence) -> Present | None:
    """Return the automatic window's measurement with the fewest streams, None if there is none.

    Where several congestion controls were measured, that of the system comes first: the one that was not asked for,
    the sender's own, else Linux's usual one. What was held to segments or a pace of its own comes last.
    """
    plain = [item for item in read_all(evidence) if not item.point.parameters.get("window") and is_plain(item.point)]
    own = presence.own_control(evidence)

    def place(item: Present) -> tuple[int, tuple[bool, bool, bool]]:
        return item.streams, foreignness(item.point.parameters, own)

    return min(plain, key=place, default=None)
