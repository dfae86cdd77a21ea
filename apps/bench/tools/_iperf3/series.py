"""The figures of iperf3's intervals over time, and the doubts they raise."""

import math
from collections.abc import Mapping

from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Params, SampleSeries
from apps.bench.tools._iperf3.document import Iperf3Document, Json, number, objects
from apps.bench.tools._iperf3.options import BOTH, REVERSE

SUM = "sum"
# A rate that still grows or falls by more than this between its first and last third is not steady.
STEADY = 0.05
LEAST_INTERVALS = 6
# More is received than was sent by what texts round only; after seconds that were omitted by what was under way.
ROUNDED, UNDER_WAY = 0.02, 0.1
# So much a sender's kernel takes of a connection of which nothing arrives: the usual largest buffer of Linux (B).
BUFFERED = 4 * 1024 * 1024


def read_series(document: Iperf3Document, params: Params, extras: Mapping[str, str]) -> tuple[SampleSeries, ...]:
    """Return the rates of the sums and of each stream, and `extras` {metric: key of the interval's streams}.

    The sender's report counts what it sent (sent_rate), the receiver's what arrived (goodput). Times are the ends of
    the intervals in s; omitted intervals lie before zero. `extras` are averaged over the sending streams.
    """
    omit = params["omit"]
    collected: dict[tuple[str, str, str], dict[float, float]] = {}
    labels: dict[object, str] = {}

    def collect(metric: str, stream: str, unit: str, item: Json, value: float | None) -> None:
        end = number(item, "end")
        if end is not None and value is not None and math.isfinite(value):
            time = round(end - omit if item.get("omitted") is True else end, 6)
            collected.setdefault((metric, stream, unit), {})[time] = value

    for interval in document.intervals():
        streams = objects(interval.get("streams"))
        for total in objects([interval.get("sum"), interval.get("sum_bidir_reverse")]):
            collect(_rate_metric(total, params), SUM, "bit/s", total, number(total, "bits_per_second"))
        for stream in streams:
            key = (repr(stream.get("socket")), stream.get("sender") is True)
            label = labels.setdefault(key, str(len(labels) + 1))
            collect(_rate_metric(stream, params), label, "bit/s", stream, number(stream, "bits_per_second"))
        sending = [stream for stream in streams if stream.get("sender") is True]
        for metric, source in extras.items():
            values = [value for stream in sending if (value := number(stream, source)) is not None]
            if values:
                scale, unit = (1e6, "s") if source == "rtt" else (1, "B")
                collect(metric, SUM, unit, sending[0], sum(values) / len(values) / scale)
    return tuple(
        SampleSeries(metric, stream, unit, tuple(sorted(points)), tuple(points[time] for time in sorted(points)))
        for (metric, stream, unit), points in collected.items()
    )


def _rate_metric(item: Json, params: Params) -> str:
    if item.get("sender") is True:
        return "sent_rate"
    return "goodput_reverse" if params["direction"] == BOTH else "goodput"


def read_flags(document: Iperf3Document, params: Params) -> list[Flag]:
    """Return the doubts about the rate over time and about the processors' load."""
    rates = [
        rate
        for interval in document.intervals()
        if (total := interval.get("sum")) and isinstance(total, dict) and total.get("omitted") is not True
        if (rate := number(total, "bits_per_second")) is not None
    ]
    flags = _silence(document)
    stalls = sum(rate == 0 for rate in rates)
    if stalls:
        flags.append(
            Flag(
                "stalled",
                "warning",
                Message(_("Nothing was sent in %(stalls)s of %(n)s intervals."), {"stalls": stalls, "n": len(rates)}),
            )
        )
    third = len(rates) // 3
    if len(rates) >= LEAST_INTERVALS and not stalls:
        first, last = sum(rates[:third]) / third, sum(rates[-third:]) / third
        change = last / first - 1
        if abs(change) > STEADY:
            flags.append(
                Flag(
                    "not-steady",
                    "warning",
                    Message(
                        _("The rate changed by %(change)s %% between the first and the last third: omit more."),
                        {"change": f"{100 * change:+.0f}"},
                    ),
                )
            )
    for end, host in (("host_total", "client"), ("remote_total", "server")):
        load = document.number("end", "cpu_utilization_percent", end)
        if load is not None and load >= 95:
            flags.append(
                Flag(
                    "cpu-busy",
                    "warning",
                    Message(
                        _("The processor of the %(role)s was %(load)s %% busy: it may be the limit."),
                        {"role": host, "load": f"{load:.0f}"},
                    ),
                )
            )
    if params["direction"] == REVERSE:
        flags.append(
            Flag(
                "sender-unseen",
                "info",
                Message(_("In reverse the window and the RTT are known to the server only and are not reported.")),
            )
        )
    return flags


def _silence(document: Iperf3Document) -> list[Flag]:
    """Say that nothing arrived, or that the receiver miscounted: none of very much, or more of TCP than was sent."""
    flags = []
    is_udp = document.get("start", "test_start", "protocol") == "UDP"
    excess = UNDER_WAY if document.number("start", "test_start", "omit") else ROUNDED
    for suffix in ("", "_bidir_reverse"):
        sent_bytes, received = (
            document.number("end", f"sum_{side}{suffix}", "bytes") for side in ("sent", "received")
        )
        metrics = () if is_udp else (f"goodput{suffix.removeprefix('_bidir')}",)
        if received == 0 and sent_bytes is not None:
            text = Message(_("The receiver counted none of the %(sent)s bytes sent."), {"sent": int(sent_bytes)})
            is_miscounted = not is_udp and sent_bytes > BUFFERED * len(document.streams())
            flags.append(Flag("nothing-received", "invalid" if is_miscounted else "warning", text, metrics))
        if not is_udp and received and sent_bytes and received > (1 + excess) * sent_bytes:
            text = Message(
                _("The receiver counted %(received)s bytes of %(sent)s sent: TCP hands over none that was not sent."),
                {"received": int(received), "sent": int(sent_bytes)},
            )
            flags.append(Flag("more-received", "invalid", text, metrics))
    return flags
