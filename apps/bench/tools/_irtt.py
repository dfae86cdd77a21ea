"""irtt's report, as JSON (times in ns) or as its table, read without trusting it."""

import re
from typing import Any

from apps.bench.outputs.documents import dig, number, objects, printed_object
from apps.bench.outputs.failures import failure
from apps.bench.toolkit import Output, SampleSeries

MOST_POINTS = 2000

_TIMES = {
    "rtt": "rtt", "send_delay": "send_delay", "receive_delay": "receive_delay", "ipdv": "ipdv_round_trip",
    "send_ipdv": "ipdv_send", "receive_ipdv": "ipdv_receive",
}  # fmt: skip
_TEXT_ROW = re.compile(
    r"^ *(?P<name>RTT|send delay|receive delay|IPDV \(jitter\)|send IPDV|receive IPDV) "
    r"+(?P<min>-?[\d.]+[nµm]?s) +(?P<mean>-?[\d.]+[nµm]?s) +(?P<median>-?[\d.]+[nµm]?s) +(?P<max>-?[\d.]+[nµm]?s)",
    re.M,
)
_TEXT_NAMES = {
    "RTT": "rtt", "send delay": "send_delay", "receive delay": "receive_delay", "IPDV (jitter)": "ipdv",
    "send IPDV": "send_ipdv", "receive IPDV": "receive_ipdv",
}  # fmt: skip
_SENT = re.compile(r"packets sent/received: (\d{1,12})/(\d{1,12}) ")
_SERVED = re.compile(r"server packets received: (\d{1,12})/\d{1,12} ")
_DURATION = re.compile(r"(-?\d{1,9}(?:\.\d{1,9})?)(ns|µs|ms|s)")
_SCALE = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


def seconds_of(text: str) -> float | None:
    match = _DURATION.fullmatch(text.replace("us", "µs"))
    return float(match[1]) * _SCALE[match[2]] if match else None


def load(output: Output) -> dict[str, Any] | None:
    """Return the report, or None; warnings may stand before it."""
    data = printed_object(output.stdout)
    return data if isinstance(dig(data, "stats"), dict) else None


def _signed(data: Any, *path: str) -> float | None:
    """Return a finite time (ns) that may be negative, in s: delays of clocks that differ are."""
    value = dig(data, *path)
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e15 or value != value:
        return None
    return value / 1e9


def read_json(output: Output, data: dict[str, Any]) -> dict[str, float | None] | None:
    sent, received = (number(data, "stats", key) for key in ("packets_sent", "packets_received"))
    if not sent or received is None:
        return None
    if received > sent:
        raise failure("contradictory", output, first=f"{received:g}", second=f"{sent:g}")
    samples: dict[str, float | None] = {}
    for name, key in _TIMES.items():
        for part in ("min", "mean", "median", "max"):
            samples[f"{name}_{part}"] = _signed(data, "stats", key, part)
    return _finish(output, samples, sent, received, number(data, "stats", "server_packets_received"))


def read_table(output: Output, text: str) -> dict[str, float | None] | None:
    counts, served = _SENT.search(text), _SERVED.search(text)
    if not counts or not int(counts[1]):
        return None
    samples: dict[str, float | None] = {}
    for row in _TEXT_ROW.finditer(text):
        for part in ("min", "mean", "median", "max"):
            samples[f"{_TEXT_NAMES[row['name']]}_{part}"] = seconds_of(row[part])
    return _finish(output, samples, int(counts[1]), int(counts[2]), float(served[1]) if served else None)


def _finish(
    output: Output, samples: dict[str, float | None], sent: float, received: float, served: float | None
) -> dict[str, float | None]:
    """Return the times with the losses; those of one direction need the server's count."""
    if not received:
        raise failure("no-reply", output, address=output.argv[-1] if output.argv else "-")
    order = [samples.get(f"rtt_{part}") for part in ("min", "median", "max")]
    if any(value is None or value < 0 for value in order):
        raise failure("unreadable", output)
    if order != sorted(order, key=lambda value: value or 0.0):
        raise failure("contradictory", output, first=f"{order[0]} s", second=f"{order[2]} s")
    samples["loss"] = 1 - received / sent
    if served is not None and received <= served <= sent:
        samples["send_loss"] = 1 - served / sent
        samples["receive_loss"] = 1 - received / served
    return samples


def series_of(data: dict[str, Any] | None) -> tuple[SampleSeries, ...]:
    """Return the RTT of each packet that came back, over the time of its sending."""
    interval = number(data, "config", "params", "interval")
    if not interval or not isinstance(data, dict):
        return ()
    points: dict[float, float] = {}
    for trip in objects(data.get("round_trips")):
        sequence, rtt = number(trip, "seqno"), number(trip, "delay", "rtt")
        if sequence is not None and rtt is not None and sequence < 1e9:
            points[round(sequence * interval / 1e9, 6)] = rtt / 1e9
    times = sorted(points)
    step = len(times) // MOST_POINTS + 1
    drawn_times = tuple(times[::step])
    return (
        (SampleSeries("rtt_median", "", "s", drawn_times, tuple(points[time] for time in drawn_times)),)
        if drawn_times
        else ()
    )


def granted_of(data: dict[str, Any] | None) -> dict[str, float]:
    """Return what the server let pass: interval (s) and length (B)."""
    interval, length = (number(data, "config", "params", key) for key in ("interval", "length"))
    parameters = {"interval": interval / 1e9 if interval else None, "length": length}
    return {name: value for name, value in parameters.items() if value is not None}


def observed_of(data: dict[str, Any] | None) -> dict[str, float]:
    counts = ("packets_sent", "packets_received", "server_packets_received", "duplicates", "late_packets")
    return {key: value for key in counts if (value := number(data, "stats", key)) is not None}
