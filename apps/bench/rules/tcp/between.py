"""The rates of all tools that move data between two ends, at the levels that each setting had."""

from collections.abc import Mapping

from apps.bench.rules.base import BELOW, Evidence, Point
from apps.bench.rules.readings import read_once
from apps.bench.rules.tcp.levels import RATES, Levels, read_levels
from apps.bench.rules.tcp.sweeps import is_tcp, levels_of

# What is read together: TCP by whichever tool, transfers of files by whichever client; of others each tool.
TCP, FILES = "tcp", "files"


@read_once
def levels_between(evidence: Evidence) -> Mapping[str, Levels]:
    """Return the levels of all that was measured between the ends, by what is read together."""
    groups: dict[str, list[Point]] = {}
    metrics: dict[str, str] = {}
    for point in evidence.points:
        metric = metric_of(point)
        if metric and not is_tcp(point) and point.statistic != BELOW and min(point.values(metric)) > 0:
            group = FILES if metric == "throughput" else point.tool
            groups.setdefault(group, []).append(point)
            metrics[group] = metric
    return {TCP: levels_of(evidence)} | {name: read_levels(own, metrics[name]) for name, own in groups.items()}


def metric_of(point: Point) -> str:
    """Return the metric of what came through in a point, "" where it tells of no such rate."""
    return next((name for name in RATES if point.values(name)), "")
