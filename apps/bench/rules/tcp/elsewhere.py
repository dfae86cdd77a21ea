"""What measurements of another campaign bear out of a path: no less than what surely came through."""

from collections.abc import Iterable
from dataclasses import replace

from apps.bench.rules import pace
from apps.bench.rules.base import SAMPLE, Evidence, PathFacts, Point
from apps.bench.rules.passed import Passed
from apps.bench.rules.readings import read_once
from apps.bench.rules.tcp import estimates
from apps.bench.rules.tcp.between import RATES, metric_of
from apps.bench.rules.tcp.scatter import mean

BITS = {"bit/s": 1.0, "B/s": 8.0}
# Rates of files, which a tool of another kind than those of TCP and UDP tells.
TRANSFERS = {name for name, unit in RATES.items() if unit == "B/s"}


def most_passed(evidence: Evidence) -> float:
    """Return the most (bit/s) that came through without any flag: a mean rate, or a load of UDP that came whole."""
    curve, _trials = estimates.loss_curve_of(evidence)
    rates = [_rate_of(point) for point in evidence.points]
    return max([*rates, (curve.whole or 0.0) if curve else 0.0])


@read_once
def best_transfer(evidence: Evidence) -> tuple[float, tuple[int, ...]]:
    """Return the most (bit/s) that repeated transfers of files had between two nodes, and its trials; 0 without any.

    Clients time by tenths of a second: a lone rate of theirs is none.
    """
    candidates = [
        (_rate_of(point), point.trials(metric))
        for point in evidence.points
        if (metric := metric_of(point)) in TRANSFERS
        and len(point.trials(metric)) > 1
        and all(len(nodes) <= 1 for nodes in point.roles.values())
    ]
    return max(candidates, default=(0.0, ()))


def refutes(evidence: Evidence, capacity: float, by: float) -> Passed | None:
    """Return what came through in another campaign, if it is more than so many times a capacity (bit/s)."""
    passed = evidence.elsewhere
    return passed if passed is not None and passed.rate_bps > by * capacity else None


def believed(path: PathFacts, passed: Iterable[Passed], by: float) -> PathFacts:
    """Return a path without what its links are said to have, of those through which more than so many times it came.

    Links have the same both ways: it does not matter which way it came.
    """
    rate = max((item.rate_bps for item in passed), default=0.0)
    if not any(_is_refuted(link.capacity_bps, rate, by) for link in path.links):
        return path
    links = tuple(
        replace(link, capacity_bps=None) if _is_refuted(link.capacity_bps, rate, by) else link for link in path.links
    )
    return replace(path, links=links, capacity_bps=None, bottleneck="")


def _is_refuted(capacity: float | None, rate: float, by: float) -> bool:
    return capacity is not None and rate > by * capacity


def _rate_of(point: Point) -> float:
    """Return the mean rate (bit/s) of the trials of which nothing is flagged, 0 without any."""
    metric = metric_of(point)
    if not metric or point.statistic != SAMPLE or pace.busy_load(point) is not None:
        return 0.0
    flagged = frozenset().union(
        *(trials for name, trials in point.flagged.items() if metric in point.bears.get(name, (metric,)))
    )
    values = [value for trial, value in point.metrics[metric].items() if trial not in flagged]
    is_known = point.warnings <= point.flagged.keys()
    return BITS[RATES[metric]] * mean(values) if values and is_known else 0.0
