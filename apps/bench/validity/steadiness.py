"""Whether a rate had settled: its first and last third are compared."""

from collections.abc import Iterable

from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Metric, Reading, SampleSeries

# A rate that differs by more than this between its first and last third is not steady.
STEADY = 0.05
LEAST_POINTS = 6
RATES = {"bit/s", "B/s", "op/s"}
# Streams that stand for all of a measurement.
WHOLE = ("", "sum")


def flags(reading: Reading, metrics: Iterable[Metric]) -> list[Flag]:
    """Return whether the rates over time changed from their first to their last third, or stood still for a while."""
    names = {metric.name for metric in metrics if metric.unit in RATES}
    stalled: list[Flag] = []
    unsteady: list[Flag] = []
    for series in reading.series:
        if series.metric not in names or series.stream not in WHOLE:
            continue
        values = _counted(series)
        stalls = sum(value == 0 for value in values)
        if stalls:
            text = _("Nothing was moved in %(stalls)s of %(n)s intervals.")
            stalled.append(Flag("stalled", "warning", Message(text, {"stalls": stalls, "n": len(values)})))
        change = change_of(values)
        if change is not None and abs(change) > STEADY:
            text = _(
                "The rate changed by %(change)s %% from its first to its last third: omit more, or measure longer."
            )
            values_of = {"change": f"{100 * change:+.0f}"}
            unsteady.append(Flag("not-steady", "warning", Message(text, values_of), (series.metric,)))
    return [*stalled[:1], *_joined(unsteady)]


def change_of(values: list[float]) -> float | None:
    """Return by which share the mean of the last third differs from that of the first; None if it cannot be told."""
    third = len(values) // 3
    if len(values) < LEAST_POINTS or not all(values):
        return None
    first, last = sum(values[:third]) / third, sum(values[-third:]) / third
    return (last - first) / first


def _counted(series: SampleSeries) -> list[float]:
    """Return the values of the time that counts; omitted time is negative."""
    return [value for time, value in zip(series.times, series.values, strict=True) if time > 0]


def _joined(flags: list[Flag]) -> list[Flag]:
    """Return one flag for all metrics, in the words of the first."""
    metrics = tuple(dict.fromkeys(metric for flag in flags for metric in flag.metrics))
    return [Flag(flags[0].name, flags[0].severity, flags[0].message, metrics)] if flags else []
