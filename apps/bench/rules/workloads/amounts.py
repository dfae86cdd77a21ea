"""What repetitions of one setting give together: those of the newest campaign, with what others of a table show."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from apps.bench import statistics
from apps.bench.rules.base import AT_LEAST, MODE, Point
from apps.bench.rules.shapes.curves import ONCE_OF_TWO
from apps.bench.rules.shapes.forms import EQUAL
from apps.bench.rules.workloads.belief import distinct
from apps.bench.statistics import student_t_quantile
from apps.bench.statistics.bounds import Within
from apps.bench.statistics.modes import LEAST_RATIO
from apps.bench.statistics.quantiles import CONFIDENCE
from apps.bench.text import Message, _
from apps.bench.units import format_quantity
from apps.bench.units.days import day_of

_SCATTERED = _("Its repetitions lie too far apart to tell an interval: the range is that of all of them.")
_OTHER_CAMPAIGN = _("In another campaign, of %(day)s, it was %(rate)s (n = %(n)s).")
_CHANGED = _("It has surely changed: in a campaign of %(day)s it was %(rate)s (n = %(n)s).")
_SINCE = _("It was measured on %(day)s; what was measured again since then has another rate.")
_MODES_BESIDE = _(
    "Other settings of its table show two modes, of which it may have met only one: the lower is what can be counted"
    " on."
)
_LOOSE = _("Repetitions of another setting of its table lie ×%(ratio)s apart: these may scatter as far.")

# No interval is told wider than this either way, as a power of e.
_WIDEST = 10.0
# The setting of a table's cell.
K = TypeVar("K")


@dataclass(frozen=True)
class Amount(Within):
    """A rate (B/s) with what it may be, its trials, how often it was measured, and what makes it doubtful.

    Of a lone figure nobody knows what else it may be: `low` and `high` are the figure itself, and no interval.
    `campaign` measured it, the last time `at` (Unix time, None: unknown); `beside` is what other campaigns had, of
    which one `has_changed` from what they surely were. `spread` is by how many times repetitions of its table
    lie apart where that is as far as two modes do, and they are too few to tell whether there are two; else 1.
    `on_logs` is the interval that ratios to it are told by, None where the mean has none.
    """

    value: float
    low: float
    high: float
    trials: tuple[int, ...]
    n: int
    is_bimodal: bool = False
    doubts: tuple[Message, ...] = ()
    campaign: int | None = None
    at: float | None = None
    beside: tuple[Message, ...] = ()
    has_changed: bool = False
    spread: float = 1.0
    on_logs: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """Return between what it lies where it is set against another rate; of two modes these."""
        return self.on_logs if self.on_logs and not self.is_bimodal else (self.low, self.high)


class PointRates(NamedTuple):
    """A point with its rates {trial: rate} of one pattern, and what makes them doubtful."""

    point: Point
    rates: Mapping[int, float]
    doubts: tuple[Message, ...] = ()


Figures = Sequence[PointRates]


def amounts_of(
    cells: Mapping[K, Figures], metric: str, tasks_of: Callable[[K], int], unit: str = "B/s"
) -> dict[K, Amount]:
    """Return the amount of each setting of one table: of the newest campaign that repeated it, or the newest.

    Where all of them together show two modes, each counts for its lower one (`tasks_of` says which are near).
    """
    amounts: dict[K, Amount] = {}
    own_figures: dict[K, Figures] = {}
    for cell, figures in cells.items():
        own, others = _by_campaign(figures)
        own_figures[cell] = own
        amounts[cell] = _beside(_amount_of(own, metric), own, others, unit)
    return _by_modes(amounts, {cell: _values(own) for cell, own in own_figures.items()}, tasks_of)


def changed_since(amount: Amount) -> Message:
    """Return the doubt in what was measured before the same file system was found to have changed."""
    return Message(_SINCE, {"day": _day_of(amount.at)})


def _day_of(at: float | None) -> str:
    return day_of(at) if at is not None else "?"


def _values(figures: Figures) -> list[float]:
    return [rate for item in figures for rate in item.rates.values()]


def _at(figures: Figures) -> float | None:
    return max((item.point.at for item in figures if item.point.at is not None), default=None)


def _by_campaign(figures: Figures) -> tuple[Figures, list[Figures]]:
    """Return the figures of the newest campaign that has several, or the newest, and those of the others."""
    groups: dict[int | None, list[PointRates]] = {}
    for item in figures:
        groups.setdefault(item.point.campaign, []).append(item)
    ranked = sorted(groups.values(), key=lambda group: _at(group) or -math.inf, reverse=True)
    own = next((group for group in ranked if len(_values(group)) > 1), ranked[0])
    return own, [group for group in ranked if group is not own]


def _beside(amount: Amount, own: Figures, others: Sequence[Figures], unit: str) -> Amount:
    """Return an amount with what the campaigns before it, or a lone figure after it, had."""
    amount = replace(amount, campaign=own[0].point.campaign, at=_at(own))
    beside, doubts = [], []
    for other in others:
        values = _values(other)
        rate = format_quantity(statistics.middle_of(values), unit)
        params = {"day": _day_of(_at(other)), "rate": rate, "n": len(values)}
        if _surely_differ(_values(own), values):
            doubts.append(Message(_CHANGED, params))
        else:
            beside.append(Message(_OTHER_CAMPAIGN, params))
    # Of many campaigns the last ones tell most.
    return replace(
        amount,
        beside=tuple(beside[:1]),
        doubts=(*amount.doubts, *doubts[:1]),
        has_changed=bool(doubts),
    )


def _surely_differ(own: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether two campaigns surely had different rates; of a lone figure, much different ones."""
    ratio = statistics.middle_of(own) / statistics.middle_of(other)
    if min(len(own), len(other)) < 2:
        return not 1 - ONCE_OF_TWO <= ratio <= 1 / (1 - ONCE_OF_TWO)
    return abs(ratio - 1) > EQUAL and statistics.compare_two(other, own).tells_apart


def _by_modes(
    amounts: dict[K, Amount], values: Mapping[K, Sequence[float]], tasks_of: Callable[[K], int]
) -> dict[K, Amount]:
    """Return amounts of the lower of two modes, where those of a table together show them."""
    modes = statistics.modes_of(values.values())
    if modes is None or modes.lower_mean <= 0:
        return _by_spread(amounts, values)
    share = modes.lower_mean / modes.upper_mean
    split = {cell: _halves(own, share) for cell, own in values.items()}
    both = {cell: halves for cell, halves in split.items() if halves}
    for cell, amount in amounts.items():
        if amount.is_bimodal:
            continue
        halves = split[cell]
        if halves:
            low, high = halves
            amounts[cell] = replace(amount, value=low, low=low, high=high, is_bimodal=True)
        elif both:
            nearest = min(both, key=lambda other: abs(math.log(tasks_of(other) / tasks_of(cell))))
            amounts[cell] = _of_one_mode(amount, both[nearest], share)
    return amounts


def _by_spread(amounts: dict[K, Amount], values: Mapping[K, Sequence[float]]) -> dict[K, Amount]:
    """Return amounts with a doubt, where repetitions of another setting lie as far apart as modes do."""
    spreads = {cell: max(own) / min(own) for cell, own in values.items() if not amounts[cell].is_bimodal}
    max_spread = max(spreads.values(), default=1.0)
    if max_spread < LEAST_RATIO:
        return amounts
    doubt = Message(_LOOSE, {"ratio": f"{max_spread:.1f}"})
    return {
        cell: replace(
            amount,
            spread=max_spread,
            doubts=(*amount.doubts, *(() if spreads.get(cell, LEAST_RATIO) >= LEAST_RATIO else (doubt,))),
        )
        for cell, amount in amounts.items()
    }


def _halves(values: Sequence[float], share: float) -> tuple[float, float] | None:
    """Return the means of the lower and the upper figures of a setting that met both modes, or None."""
    bound = max(values) * (1 + share) / 2
    lower, upper = [value for value in values if value < bound], [value for value in values if value >= bound]
    return (math.fsum(lower) / len(lower), math.fsum(upper) / len(upper)) if lower else None


def _of_one_mode(amount: Amount, levels: tuple[float, float], share: float) -> Amount:
    """Return the amount of a setting that met one of two modes: the one that the nearest setting has near it."""
    lower, upper = levels
    doubts = (*amount.doubts, Message(_MODES_BESIDE))
    is_upper = abs(math.log(amount.value / upper)) < abs(math.log(amount.value / lower))
    if is_upper:
        value = amount.value * share
        return replace(amount, value=value, low=min(amount.low * share, value), is_bimodal=True, doubts=doubts)
    high = max(amount.high, amount.value / share)
    return replace(amount, high=high, is_bimodal=True, doubts=doubts)


def _amount_of(figures: Figures, metric: str) -> Amount:
    """Return what points of one setting give together: the range of their modes, or the mean with its interval."""
    trials = tuple(sorted({trial for item in figures for trial in item.rates}))
    values = _values(figures)
    doubts = distinct(doubt for item in figures for doubt in item.doubts)
    modes = statistics.find_modes(values)
    if modes or any(item.point.statistic == MODE for item in figures):
        low, high = (modes.lower_mean, modes.upper_mean) if modes else (min(values), max(values))
        # What an application can count on is the lower one.
        return Amount(low, low, high, trials, len(values), is_bimodal=high > low, doubts=doubts)
    kinds = {item.point.kind_of_mean(metric) for item in figures}
    summary = statistics.summarise(values, *(kinds if len(kinds) == 1 else ()))
    mean, interval = summary.mean, summary.interval
    # Of one figure, of equal ones, and of such as lie too far apart there is no interval.
    low, high = min(*values, mean), max(*values, mean)
    on_logs = None
    if interval and interval.confidence is not None and interval.low <= mean <= interval.high:
        low, high = max(interval.low, 0.0), interval.high
        on_logs = _on_logs(values, mean)
    elif low < high:
        doubts = (*doubts, Message(_SCATTERED))
    if any(item.point.statistic == AT_LEAST for item in figures):
        low = min(summary.minimum, mean)
    return Amount(mean, low, high, trials, summary.n, doubts=doubts, on_logs=on_logs)


def _on_logs(values: Sequence[float], mean: float) -> tuple[float, float] | None:
    """Return Student's interval of the logarithms around a mean of rates, None of one or where any is zero.

    A rate's reciprocal whose interval comes near zero has an end that is many times what was ever measured.
    """
    if len(values) < 2 or min(values) <= 0:
        return None
    logs = [math.log(value) for value in values]
    middle = math.fsum(logs) / len(logs)
    error = math.sqrt(math.fsum((one - middle) ** 2 for one in logs) / (len(logs) - 1) / len(logs))
    factor = math.exp(min(student_t_quantile((1 + CONFIDENCE) / 2, len(logs) - 1) * error, _WIDEST))
    return mean / factor, mean * factor
