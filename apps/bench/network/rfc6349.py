"""TCP throughput as RFC 6349 tests it: the windows to try on a path, and the three metrics of every TCP run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from apps.bench.network import transport
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Metric, Parameter, Params, Reading, SampleValue, Tool

Json = dict[str, Any]

# A quarter of the BDP to four times it: below one the window limits, above it only the queue grows.
SHARES = (0.25, 0.5, 1.0, 2.0, 4.0)
# Windows are offered in whole KiB: a finer step than a segment tells nothing.
STEP = 1024
# The largest window that TCP can announce, with the largest scale (RFC 7323, section 2.3).
MOST_WINDOW = 2**30
USUAL_MTU = 1500
# A rate this much above what the bottleneck can carry says that the bottleneck is not what it was taken for.
FASTER = 0.95
# The kernel's count stands for the run if it saw this share of the bytes that the run moved.
COVERED = 0.9

BOTTLENECK = Parameter(
    "bottleneck",
    "rate",
    _("Bottleneck bandwidth"),
    help=_(
        "For RFC 6349's transfer-time ratio: the line rate of the path, as measured before with UDP or an "
        "estimator of capacity; 0 takes the least capacity of the links in the inventory."
    ),
    aside=True,
    default=0,
    zero=_("not given"),
    unit="bit/s",
    minimum=0,
    maximum=10**13,
    advanced=True,
)
BASELINE_RTT = Parameter(
    "baseline_rtt",
    "duration",
    _("Baseline RTT"),
    help=_(
        "For RFC 6349's buffer delay: the min RTT of the idle path; 0 takes that measured just before the run. "
        "Without either there is no buffer delay."
    ),
    aside=True,
    default=0.0,
    zero=_("not given"),
    unit="s",
    minimum=0,
    maximum=60,
    advanced=True,
)
# What a TCP tool adds to its own, so that its runs are judged against known figures of the path.
PARAMETERS = (BOTTLENECK, BASELINE_RTT)
METRICS = (
    Metric("transfer_time_ratio", _("Transfer-time ratio (RFC 6349)"), "1", False, axis="ratio"),
    Metric("tcp_efficiency", _("TCP efficiency (RFC 6349)"), "fraction", True, axis="fraction"),
    Metric("buffer_delay", _("Buffer delay (RFC 6349)"), "fraction", False, axis="fraction"),
)


@dataclass(frozen=True)
class Baseline:
    """A figure of the path that a run is held against, and where it comes from: given, measured, inventory, load."""

    value: float
    source: str


def windows_to_test(
    bottleneck_bps: float, baseline_rtt_s: float, shares: Sequence[float] = SHARES
) -> tuple[int, ...]:
    """Return the TCP windows (B, ascending, whole KiB) for a path: `shares` of its BDP (RFC 6349, section 3.3.1).

    None is less than 1 KiB or more than the 2^30 B that TCP can announce; ValueError unless both figures are
    positive and finite.
    """
    for value in (bottleneck_bps, baseline_rtt_s, *shares):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{value} is no positive figure of a path")
    bdp = bottleneck_bps * baseline_rtt_s / 8
    return tuple(sorted({min(max(STEP, math.ceil(share * bdp / STEP) * STEP), MOST_WINDOW) for share in shares}))


def connections_to_fill(bottleneck_bps: float, baseline_rtt_s: float, window_bytes: int) -> int:
    """Return how many connections of one window (B) fill a path: ceil(BDP / window) (RFC 6349, section 5.1)."""
    bdp = transport.bdp_bytes(bottleneck_bps, baseline_rtt_s) or 0
    return max(1, math.ceil(bdp / window_bytes))


def line_rate_bps(payload_bps: float, datagram_bytes: int, mtu: int = USUAL_MTU) -> float:
    """Return the rate (bit/s) at which UDP payload of a goodput fills the Ethernet line, headers included.

    `datagram_bytes` is the payload of each datagram; one that does not fit the MTU (B) is sent in fragments, each
    with an IP header of its own (RFC 791). It turns what arrived of an overload into a bottleneck bandwidth.
    """
    return payload_bps * transport.line_bytes(datagram_bytes, mtu)


def transfer_time_ratio(goodput_bps: float, bottleneck_bps: float, mtu: int) -> float:
    """Return actual over ideal transfer time, 1 at best (RFC 6349, section 4.1): what TCP can have over what it got.

    `mtu` in bytes; the ideal is the goodput of full segments with timestamps at the bottleneck's line rate.
    """
    return bottleneck_bps * transport.tcp_efficiency(mtu) / goodput_bps


def efficiency(sent_bytes: float, retransmitted_bytes: float) -> float:
    """Return (sent - retransmitted) / sent, 1 at best (RFC 6349, section 4.2)."""
    return max(0.0, 1 - retransmitted_bytes / sent_bytes)


def buffer_delay(mean_rtt_s: float, baseline_rtt_s: float) -> float:
    """Return the growth of the mean RTT over the baseline, 0 at best (RFC 6349, section 4.3)."""
    return (mean_rtt_s - baseline_rtt_s) / baseline_rtt_s


def judge(reading: Reading, params: Params, tool: Tool, capacity_bps: float | None = None) -> Reading:
    """Return a TCP run's reading with the three metrics, as far as what they need is known.

    `capacity_bps` is the least capacity (bit/s) of the links of the path in the inventory, if all are known. They
    stand in `observed["rfc6349"]` with what they were held against, and as samples if the tool declares them.
    """
    if tool.transport != "tcp":
        return reading
    figures: Json = {}
    rate = _rate_of(reading, tool)
    bottleneck = _first((params.get("bottleneck"), "given"), (capacity_bps, "inventory"))
    if rate and bottleneck:
        mtu = _mtu_of(reading)
        figures["transfer_time_ratio"] = transfer_time_ratio(rate, bottleneck.value, mtu)
        figures |= {"bottleneck": bottleneck.value, "bottleneck_source": bottleneck.source}
        figures["ideal_goodput"] = bottleneck.value * transport.tcp_efficiency(mtu)
    if (share := _efficiency_of(reading, params, rate)) is not None:
        figures["tcp_efficiency"] = share
    kernel = reading.observed.get("tcp") or {}
    mean = _first((reading.value("mean_rtt"), ""), (kernel.get("mean_rtt"), ""))
    base = _first(
        (params.get("baseline_rtt"), "given"),
        (_rtt_before(reading), "measured"),
    )
    # The min RTT under load holds what others have queued: without a baseline of an idle path there is no delay.
    if mean and base:
        figures["buffer_delay"] = buffer_delay(mean.value, base.value)
        figures |= {"baseline_rtt": base.value, "baseline_source": base.source}
    figures = {name: value for name, value in figures.items() if isinstance(value, str) or math.isfinite(value)}
    if not figures:
        return reading
    declared = {metric.name for metric in tool.metrics} - {sample.metric for sample in reading.samples}
    samples = [
        SampleValue(metric.name, figures[metric.name])
        for metric in METRICS
        if metric.name in figures and metric.name in declared
    ]
    return replace(
        reading,
        samples=(*reading.samples, *samples),
        observed={**reading.observed, "rfc6349": figures},
        flags=(*reading.flags, *_flags_of(figures)),
    )


def _flags_of(figures: Json) -> list[Flag]:
    if figures.get("transfer_time_ratio", 1.0) >= FASTER:
        return []
    text = _(
        "The goodput is %(times)s times what a bottleneck of %(rate)s Mbit/s lets through: "
        "its bandwidth is more than that, or the traffic took another way."
    )
    values = {"times": f"{1 / figures['transfer_time_ratio']:.2f}", "rate": f"{figures['bottleneck'] / 1e6:g}"}
    return [Flag("faster-than-bottleneck", "info", Message(text, values))]


def _rate_of(reading: Reading, tool: Tool) -> float | None:
    """Return the primary metric as a rate in bit/s, None if it is none or zero."""
    primary = next((metric for metric in tool.metrics if metric.primary), None)
    scale = {"bit/s": 1, "B/s": 8}.get(primary.unit if primary else "")
    value = reading.value(primary.name) if primary and scale else None
    return value * scale if value and scale and math.isfinite(value) else None


def _mtu_of(reading: Reading) -> int:
    """Return the MTU (B) of the path as the run saw it: the kernel's, else that of its MSS, else the usual one."""
    kernel = reading.observed.get("tcp") or {}
    path_mtu = _first((reading.observed.get("path_mtu"), ""), (kernel.get("path_mtu"), ""))
    if path_mtu and path_mtu.value >= transport.LEAST_MTU:
        return int(path_mtu.value)
    mss = _mss_of(reading)
    # An MSS without the 12 bytes of timestamps is one of the usual MTUs less 40.
    plain = transport.IPV4_BYTES + transport.TCP_BYTES
    if mss is None:
        return USUAL_MTU
    return mss + (plain if mss + plain in {USUAL_MTU, 9000} else plain + transport.TIMESTAMP_BYTES)


def _mss_of(reading: Reading) -> int | None:
    kernel = reading.observed.get("tcp") or {}
    mss = _first((reading.observed.get("mss"), ""), (kernel.get("mss"), ""))
    return int(mss.value) if mss and mss.value >= 1 else None


def _efficiency_of(reading: Reading, params: Params, rate: float | None) -> float | None:
    """Return the efficiency by the kernel's count of bytes, else by the tool's of segments; None without either.

    The kernel is asked once a second: its count is taken if it covers what was moved, or if there is no other.
    """
    kernel = reading.observed.get("tcp") or {}
    # What it took; the time asked for is neither that of an amount (-n), nor that of a test that went on.
    seconds = reading.value("transfer_time") or reading.observed.get("seconds") or params.get("duration")
    sending = reading.value("sent_rate") or rate
    sent_by_tool = sending * seconds / 8 if sending and _is_positive(seconds) else None
    by_tool = _efficiency_by_tool(reading, sent_by_tool)
    sent, again = kernel.get("bytes_sent"), kernel.get("bytes_retransmitted")
    if not _is_positive(sent) or again is None or not (again == 0 or _is_positive(again)):
        return by_tool
    if by_tool is None or sent_by_tool is None or sent >= COVERED * sent_by_tool:
        return efficiency(sent, again)
    return by_tool


def _efficiency_by_tool(reading: Reading, bytes_sent: float | None) -> float | None:
    segments, mss = reading.value("retransmits"), _mss_of(reading)
    if segments is None or not bytes_sent or (segments and not mss):
        return None
    again = segments * (mss or 0)
    # A rate that was received holds no byte twice; one that was sent does.
    return efficiency(bytes_sent if reading.value("sent_rate") else bytes_sent + again, again)


def _rtt_before(reading: Reading) -> float | None:
    """Return the min RTT (s) that the bracket around the run measured before it, if there was one."""
    before = (reading.observed.get("context") or {}).get("before") or {}
    value = before.get("rtt_min")
    return value if _is_positive(value) else None


def _first(*candidates: tuple[Any, str]) -> Baseline | None:
    """Return the first figure that is positive and finite, with its source."""
    return next((Baseline(float(value), source) for value, source in candidates if _is_positive(value)), None)


def _is_positive(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0
