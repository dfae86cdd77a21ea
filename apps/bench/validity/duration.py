"""Whether a rate was measured for long enough."""

from collections.abc import Iterable, Mapping, Sequence

from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Metric, Output, Reading

# Under this (s) starting up is a large part of a rate, and the clocks of programs that count in ms or ticks show.
LEAST_S = 0.1
# Under this (s) a disturbance of some ms still moves a rate by per cents.
ENOUGH_S = 1.0
RATES = {"bit/s", "B/s", "op/s"}


def longest_run_s(outputs: Sequence[Output]) -> float | None:
    """Return how long (s) the longest of the commands ran, None if their times are not known."""
    runs = [
        output.ended_at - output.started_at
        for output in outputs
        if output.started_at is not None and output.ended_at is not None
    ]
    return max(runs, default=None)


def flags(reading: Reading, run_s: float | None, metrics: Iterable[Metric]) -> list[Flag]:
    """Return whether rates were measured for too short a time; `run_s` counts where the tool tells no times."""
    measured = reading.observed.get("measured_s")
    if isinstance(measured, Mapping):
        times = {metric: time for metric, time in measured.items() if isinstance(time, int | float)}
        return [
            *_flag(_between(times, 0.0, LEAST_S), "invalid"),
            *_flag(_between(times, LEAST_S, ENOUGH_S), "warning"),
        ]
    rates = {metric.name for metric in metrics if metric.unit in RATES}
    if run_s is None or not any(sample.metric in rates for sample in reading.samples):
        return []
    return _flag(_between(dict.fromkeys(rates, run_s), 0.0, ENOUGH_S), "warning")


def _between(times: Mapping[str, float], low: float, high: float) -> dict[str, float]:
    return {metric: time for metric, time in times.items() if low <= time < high}


def _flag(times: Mapping[str, float], severity: str) -> list[Flag]:
    if not times:
        return []
    text = _(
        "A rate was measured for %(seconds)s s only: starting up and the clock's steps count in it. Measure longer."
    )
    name = "too-short" if severity == "invalid" else "short"
    values = {"seconds": f"{min(times.values()):.2g}"}
    return [Flag(name, severity, Message(text, values), tuple(sorted(times)))]
