"""How pairs share what all of them have together: by the slowest of them and by Jain's index, at each number."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.bench import statistics
from apps.bench.rules.base import Evidence
from apps.bench.rules.shapes import Curve
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

EVEN, UNEVEN, UNMEASURED = "even", "uneven", "unmeasured"
# Pairs share evenly from this value of Jain's index on, and where the slowest has this share of an even part.
FAIR, LEAST_SHARE = 0.95, 0.75
# The pairs' mean times their number is what all have, but for as much as clocks err.
SUM_OFF = 0.10
INDEX, LEAST, MEAN = "fairness", "bandwidth_least", "bandwidth_pair"

# Means of a metric by number of pairs.
Means = Mapping[int, float]


@dataclass(frozen=True)
class Shares:
    """How pairs share: EVEN at every number of them, UNEVEN at some, or UNMEASURED at some; what shows it."""

    how: str
    title: str = ""
    params: Mapping[str, object] = field(default_factory=dict)
    reasons: tuple[Message, ...] = ()
    against: tuple[Message, ...] = ()


def shares_of(curve: Curve, evidence: Evidence) -> Shares:
    """Return how the pairs of a curve of the aggregate share, by what the same trials measured beside it."""
    counts = [count for count in curve.means if count > 1]
    least, indices = _beside(curve, evidence, LEAST), _beside(curve, evidence, INDEX)
    by_least, by_index = _of_least(curve, least), _of_index(indices)
    against = _contradictions(curve, _beside(curve, evidence, MEAN))
    reasons = (*by_index.reasons, *by_least.reasons)
    uneven = next((item for item in (by_least, by_index) if item.how == UNEVEN), None)
    if uneven:
        return Shares(UNEVEN, uneven.title, uneven.params, reasons, against)
    is_shown = bool(counts) and all(count in least or count in indices for count in counts) and not against
    return Shares(EVEN if is_shown else UNMEASURED, reasons=reasons, against=against)


def _of_least(curve: Curve, least: Means) -> Shares:
    """Return what the slowest of the pairs has, where that is the smallest part of an even share."""
    parts = {n: rate * n / curve.means[n] for n, rate in least.items() if n > 1 and curve.means.get(n)}
    if not parts:
        return Shares(UNMEASURED)
    pairs = min(parts, key=lambda n: parts[n])
    params = {
        "pairs": pairs,
        "least": format_quantity(least[pairs], "B/s"),
        "share": format_quantity(curve.means[pairs] / pairs, "B/s"),
    }
    reason = Message(_("Of %(pairs)s pairs the slowest has %(least)s; an even share is %(share)s."), params)
    if parts[pairs] >= LEAST_SHARE:
        return Shares(EVEN, reasons=(reason,))
    title = _("Pairs between two nodes (%(where)s) share unevenly: of %(pairs)s one has %(least)s, not %(share)s")
    return Shares(UNEVEN, title, params, (reason,))


def _of_index(indices: Means) -> Shares:
    """Return what Jain's index says where it is the lowest."""
    own = {n: index for n, index in indices.items() if n > 1}
    if not own:
        return Shares(UNMEASURED)
    pairs = min(own, key=lambda n: own[n])
    params = {"pairs": pairs, "fairness": f"{own[pairs]:.2f}"}
    if own[pairs] >= FAIR:
        text = _("Jain's index of their shares is %(fairness)s or more: they share evenly.")
        return Shares(EVEN, reasons=(Message(text, params),))
    text = _("Jain's index of the shares of %(pairs)s pairs is %(fairness)s: some get much less than others.")
    title = _("Pairs between two nodes (%(where)s) share unevenly: of %(pairs)s Jain's index is %(fairness)s")
    return Shares(UNEVEN, title, params, (Message(text, params),))


def _contradictions(curve: Curve, mean: Means) -> tuple[Message, ...]:
    """Return where the mean of the pairs, times their number, is not what all are said to have together."""
    text = _("The mean of %(pairs)s pairs is %(mean)s, which times their number is not %(aggregate)s.")
    for pairs, own in mean.items():
        aggregate = curve.means[pairs]
        if aggregate > 0 and abs(own * pairs / aggregate - 1) > SUM_OFF:
            rates = {"mean": format_quantity(own, "B/s"), "aggregate": format_quantity(aggregate, "B/s")}
            return (Message(text, {"pairs": pairs, **rates}),)
    return ()


def _beside(curve: Curve, evidence: Evidence, metric: str) -> Means:
    """Return the means of another metric of a curve's trials at each of its values that has it, in their order."""
    means = {}
    for value, cell in curve.cells.items():
        figures = {
            trial: (figure, point)
            for point in evidence.points
            for trial, figure in point.metrics.get(metric, {}).items()
            if trial in cell
        }
        if figures:
            kind = figures[min(figures)][1].kind_of_mean(metric)
            means[value] = statistics.middle_of([figures[trial][0] for trial in sorted(figures)], kind)
    return means
