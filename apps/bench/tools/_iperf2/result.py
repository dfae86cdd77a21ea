"""iperf 2: from what both sides told of one test to a reading."""

import math
import re
from collections.abc import Sequence

from apps.bench.outputs import agreement
from apps.bench.outputs.failures import failure
from apps.bench.outputs.reconstruction import is_known
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Output, Params, Reading, SampleSeries
from apps.bench.tools import _pairs
from apps.bench.tools._iperf2.report import Iperf2Report, StreamLine

__all__ = ["Iperf2Report", "make_reading", "one_way_flags"]

# What it prints is rounded to three digits, unless asked for whole bytes.
TOLERANCE = 0.02
_NO_LISTENER = re.compile(r"^listener bind failed: [^\n]*$", re.M)


def make_reading(
    output: Output, client: Iperf2Report | None, served: Iperf2Report | None, params: Params, version: str
) -> Reading:
    """Return the reading: goodput from the receiver, everything else from the side that knows it."""
    is_udp = params["protocol"] == "udp"
    # With TCP the server's lines are what arrived; datagrams are counted by it, too, and told to the client.
    receiver = client if is_udp and client and client.received else served
    arrived = (receiver.received or ([] if is_udp else receiver.finals)) if receiver else []
    sending = client.finals if client else []
    for line in (*sending, *arrived):
        _check(output, line)
    samples: dict[str, float | None] = {"goodput": _rate(arrived), "sent_rate": _rate(sending)}
    samples |= _datagrams(output, arrived) if is_udp else _connection(sending, client.intervals if client else [])
    either = client or served or Iperf2Report()
    granted_sizes = {} if either.buffer is None else {"buffer": either.buffer}
    if params["window"] and either.buffer is not None:
        samples["window_granted"] = either.buffer
    shares = [line.amount for line in arrived or sending]
    squares = sum(share * share for share in shares)
    if len(shares) > 1 and squares:
        # Jain's fairness index: (sum x)^2 / (n sum x^2) (Jain, Chiu, Hawe 1984).
        samples["fairness"] = sum(shares) ** 2 / (len(shares) * squares)
    if is_udp and receiver:
        samples["out_of_order"] = receiver.out_of_order
    observed = {"streams": len(shares), "mss": either.mss, "connect_rtt": either.rtt}
    return Reading(
        samples=_pairs.figures(samples),
        series=_series(client or served or Iperf2Report(), is_sent=client is not None),
        requested=dict(params),
        granted=granted_sizes,
        observed={name: value for name, value in observed.items() if value is not None},
        flags=(*_flags(output, samples, params, either), *_agreement(arrived, either.datagram)),
        tool_version=version,
    )


def _check(output: Output, line: StreamLine) -> None:
    """Raise ToolFailure if a line's rate is not its bytes over its time, or if neither has the digits to tell it."""
    if line.is_coarse:
        raise failure("too-coarse", output, rate=f"{line.rate_bps:.6g} bit/s")
    computed = line.amount * 8 / line.end if line.end else math.inf
    tolerance = TOLERANCE * max(line.rate_bps, computed) + 1
    if not line.end or abs(computed - line.rate_bps) > tolerance:
        raise failure("contradictory", output, first=f"{line.rate_bps:.6g}", second=f"{computed:.6g}")


def _rate(lines: Sequence[StreamLine]) -> float | None:
    """Return the bits of all streams over the time of the longest; its own [SUM] can exceed the link."""
    if not lines:
        return None
    return sum(line.rate_bps * line.end for line in lines) / max(line.end for line in lines)


def _datagrams(output: Output, arrived: Sequence[StreamLine]) -> dict[str, float | None]:
    lost = sum(line.lost or 0 for line in arrived)
    total = sum(line.total or 0 for line in arrived)
    if not total or lost > total:
        raise failure("unreadable", output)
    jitters = [line.jitter for line in arrived if line.jitter is not None]
    return {"loss": lost / total, "jitter": max(jitters) if jitters else None}


def _connection(sending: Sequence[StreamLine], intervals: Sequence[StreamLine]) -> dict[str, float | None]:
    """Return what the kernel told of the connections.

    Window and RTT (-e) are what the kernel had at the end of a line's time: that of the whole test is its last
    sample, taken when the queue drains. Those of the intervals are under load; without any it is not known.
    """
    retries = [line.retries for line in sending if line.retries is not None]
    rtts = [line.rtt for line in intervals if line.rtt]
    cwnds = [line.cwnd for line in (*intervals, *sending) if line.cwnd is not None] if intervals else []
    return {
        "retransmits": sum(retries) if retries else None,
        "cwnd_max": max(cwnds) if cwnds else None,
        "mean_rtt": sum(rtts) / len(rtts) if rtts else None,
    }


def _series(report: Iperf2Report, *, is_sent: bool) -> tuple[SampleSeries, ...]:
    """Return the sum over the streams of each interval, where every stream has told of it."""
    sums: dict[tuple[float, float], list[float]] = {}
    for line in report.intervals:
        sums.setdefault((line.start, line.end), []).append(line.rate_bps)
    streams = max((len(rates) for rates in sums.values()), default=0)
    points = {end: sum(rates) for (start, end), rates in sums.items() if len(rates) == streams and end > start}
    if not points:
        return ()
    times = tuple(sorted(points))
    metric = "sent_rate" if is_sent else "goodput"
    return (SampleSeries(metric, "sum", "bit/s", times, tuple(points[time] for time in times)),)


def _agreement(arrived: Sequence[StreamLine], length: int | None) -> list[Flag]:
    """Say when the bytes that arrived are not those of the datagrams, whose size (B) the head tells."""
    datagrams = sum((line.total or 0) - (line.lost or 0) for line in arrived)
    seconds = max((line.end for line in arrived), default=0.0)
    # Sizes are rounded to three digits unless whole bytes were asked for.
    return agreement.datagram_flags(_rate(arrived), datagrams, length, seconds, ("goodput", "loss"), TOLERANCE)


def _flags(
    output: Output, samples: dict[str, float | None], params: Params, report: Iperf2Report
) -> tuple[Flag, ...]:
    flags = [] if samples["goodput"] is not None else [_pairs.receiver_unseen()]
    flags += _pairs.window_flags(params["window"], report.buffer)
    if params["protocol"] == "udp":
        flags += _pairs.load_flags(samples["sent_rate"], params["rate"] if is_known(output.argv) else None)
    return tuple(flags)


def one_way_flags(text: str) -> list[Flag]:
    """Say that the other of two ways (-r, -d) was not measured: without its listener the client goes on alone."""
    failed = _NO_LISTENER.search(text)
    if not failed:
        return []
    words = _("It was not measured the other way, as it was asked for: %(said)s.")
    return [Flag("one-way-alone", "warning", Message(words, {"said": failed[0].strip()[:200]}))]
