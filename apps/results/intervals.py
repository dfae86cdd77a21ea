"""The interval of a point's mean as pages show it: cut at what its quantity can be, with how it was found."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.bench.statistics import Method
from apps.bench.statistics.intervals import ASSUMES
from apps.bench.toolkit import Metric
from apps.core.messages import render
from apps.results import queries

# How REST names the ways in which intervals are found, "" where there is none.
METHODS = ("", *(method.value for method in Method))
# What they suppose of the figures, "" for nothing.
ASSUMPTIONS = ("", *dict.fromkeys(ASSUMES.values()))


@dataclass(frozen=True)
class Ends:
    """An interval as a table shows it: its ends in the metric's unit, which interval it is, and whether it is cut."""

    low: float
    high: float
    method: str
    is_cut: bool

    @property
    def title(self) -> str:
        """Return what is to be known of the interval."""
        return f"{self.method}. {cut_note()}" if self.is_cut else self.method


def cut_note() -> str:
    """Return what is said of an interval that would reach beyond what its quantity can be."""
    return _(
        "The interval is cut where no figure can lie: below zero, beyond the whole, or beyond the path’s ceiling and"
        " all figures."
    )


def ends_of(group: queries.CellGroup, metric: Metric, ceiling: float | None) -> Ends | None:
    """Return the interval of a point's mean, None where a single figure gives none.

    `ceiling` is what no figure along the measured path exceeds, in the metric's unit; None where it is not known.
    """
    ends, interval = group.interval(metric, ceiling), group.centre.interval
    if ends.low is None or ends.high is None or interval is None:
        return None
    return Ends(ends.low, ends.high, render(interval.message), ends.is_cut)
