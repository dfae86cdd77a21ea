"""How the rate goes with the number of streams: measured, or only printed."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.bench.knee import find_knee
from apps.bench.rules.base import Evidence, Trend
from apps.bench.rules.readings import read_once
from apps.bench.rules.tcp.scatter import Scatter
from apps.bench.rules.tcp.sweeps import MOST_FALL, Cell, Sweep, scatter_of, sweeps_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

FACTOR, METRIC = "streams", "goodput"
RISES, FLAT, SATURATES = "rises", "flat", "saturates"
# Streams multiply if so many have this share of as many times the rate of one, or fewer surely nearly all of it.
LEAST_COUNT, LINEAR = 4, 0.7


@dataclass(frozen=True)
class Growth:
    """Whether streams multiply the rate of one, the knee (None if there is none), in words, and the trials.

    `levels_off` says that the last of them give no more; `fixed` are the other parameters (None: only printed).
    `rates` are those measured (bit/s by the number), `fall` what the last surely lose against the best (None:
    nothing), as a message shows it.
    """

    multiplies: bool
    knee: float | None
    message: Message
    trials: tuple[int, ...]
    levels_off: bool = False
    fixed: Mapping[str, Any] | None = None
    rates: Mapping[int, float] = field(default_factory=dict)
    fall: Mapping[str, Any] | None = None

    def at(self, count: float) -> float | None:
        """Return the rate (bit/s) of so many streams, between those measured; None beyond them."""
        points = sorted(self.rates.items())
        for (low, before), (high, after) in itertools.pairwise(points):
            if low <= count <= high:
                return before + (after - before) * (count - low) / (high - low)
        return None


def printed_trend(evidence: Evidence) -> Trend | None:
    """Return what a publication prints of TCP's rate over the number of streams, without its figures."""
    return next((trend for trend in evidence.trends if trend.factor == FACTOR and trend.metric in (METRIC, "")), None)


@read_once
def read_growth(evidence: Evidence) -> Growth | None:
    """Return how the rate goes with streams, of the largest sweep, else as printed; None if nothing tells."""
    for sweep in sweeps_of(evidence, FACTOR):
        if len(sweep.cells) > 1:
            return _measured_growth(sweep, scatter_of(evidence))
    trend = printed_trend(evidence)
    if trend is None:
        return None
    text = _("With more streams the rate grows in proportion (as printed).")
    if trend.knee:
        text = _("With more streams the rate grows in proportion up to %(knee)s (as printed).")
    multiplies = trend.shape in (RISES, SATURATES) and (trend.knee is None or trend.knee >= LEAST_COUNT)
    message = Message(text, {"knee": f"{trend.knee or 0:g}"})
    return Growth(multiplies, trend.knee, message, trend.trials, levels_off=trend.knee is not None)


def _measured_growth(sweep: Sweep, scatter: Scatter) -> Growth:
    first, means = sweep.cells[0], {cell.value: cell.rate.mean for cell in sweep.cells}
    knee = find_knee(list(means), list(means.values()))
    each = first.rate.mean / first.value
    linear = [count for count, rate in means.items() if count >= LEAST_COUNT and rate >= LINEAR * count * each]
    linear += [cell.value for cell in sweep.cells[1:] if _is_multiple(cell, first, scatter)]
    text = _("%(streams)s streams have %(times)s times the rate of one.")
    max_streams = max(linear, default=sweep.cells[-1].value)
    params = {"streams": max_streams, "times": f"{means[max_streams] / each:.1f}"}
    at = knee.at if knee and knee.is_clear else None
    last = sweep.cells[-1]
    levels_off = last.rate.mean < LINEAR * last.value * each
    message, bend = Message(text, params), round(at) if at else None
    multiplies = bool(linear) and _is_alone(sweep, max_streams, scatter)
    return Growth(multiplies, bend, message, sweep.trials, levels_off, sweep.fixed, means, _fall(sweep, scatter))


def _is_multiple(cell: Cell, first: Cell, scatter: Scatter) -> bool:
    """Return whether streams surely have as many times the rate of the fewest, but for what a sweep may fall.

    Where each has over a third of the path, two have twice the rate of one, and four no longer have four times.
    """
    least = (1 - MOST_FALL) * cell.value / first.value
    return scatter.is_less([least * rate for rate in first.rates], cell.rates)


def _is_alone(sweep: Sweep, most: int, scatter: Scatter) -> bool:
    """Return whether each stream has its own limit up to so many: none surely has more than the first, nor all less.

    Streams of which two have four times the rate of one are held by something else in between.
    """
    first = sweep.cells[0]
    cells = [cell for cell in sweep.cells if cell.value <= most]
    own = [(cell, [rate * cell.value / first.value for rate in first.rates]) for cell in sweep.cells]
    if any(scatter.is_less(shares, cell.rates, by=MOST_FALL) for cell, shares in own):
        return False
    return not any(
        scatter.is_less(more.rates, less.rates, by=MOST_FALL) for less, more in itertools.combinations(cells, 2)
    )


def _fall(sweep: Sweep, scatter: Scatter) -> dict[str, Any] | None:
    """Return the best number of streams and what the last one surely has less than it; None if it has not."""
    best, last = sweep.best, sweep.cells[-1]
    if best is last or not scatter.is_less(last.rates, best.rates, by=MOST_FALL):
        return None
    return {
        "best": best.value,
        "rate": format_quantity(best.rate.mean, "bit/s"),
        "more": last.value,
        "less": format_quantity(last.rate.mean, "bit/s"),
        "share": percent(1 - last.rate.mean / best.rate.mean),
    }
