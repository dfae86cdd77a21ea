"""Windows that another tool asked for between the same ends, and that gained it nothing: no window held its rate."""

from apps.bench.rules import pace, presence
from apps.bench.rules.base import SAMPLE, Evidence, Point
from apps.bench.rules.tcp.path import PathReading
from apps.bench.rules.tcp.scatter import mean, read_scatter
from apps.bench.rules.tcp.sweeps import SURELY
from apps.bench.rules.told import rest_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

METRIC = "throughput"
# A window leaves room that would allow so many times the rate; a rate below this share of the path does not fill it.
ROOM, NOT_FULL = 2.0, 0.8


def windows_in_vain(evidence: Evidence, path: PathReading) -> Message | None:
    """Return that single transfers had no more with windows that leave room than with the kernel's own.

    None where one surely had more, where none was asked for, or where the path was about full.
    """
    for own, others in _swept(evidence):
        rates = own.values(METRIC)
        roomy = [point for point in others if point.parameters["window"] / path.rtt.longest >= ROOM * mean(rates)]
        scatter = read_scatter(point.values(METRIC) for point in (own, *roomy))
        if not roomy or any(
            scatter.is_less(rates, point.values(METRIC), by=SURELY, looked=len(roomy)) for point in roomy
        ):
            continue
        best = max(roomy, key=lambda point: mean(point.values(METRIC)))
        best_rate = 8 * max(mean(rates), mean(best.values(METRIC)))
        if not path.capacity.is_lower_bound and best_rate >= NOT_FULL * path.ceiling_bps:
            continue
        text = _(
            "GridFTP had %(rate)s with the kernel's own window and %(other)s with one of %(window)s, which is no more"
            " for sure: the window does not hold it."
        )
        params = {
            "rate": format_quantity(mean(rates), "B/s"),
            "other": format_quantity(mean(best.values(METRIC)), "B/s"),
            "window": format_quantity(best.parameters["window"], "B"),
        }
        return Message(text, params)
    return None


def _swept(evidence: Evidence) -> list[tuple[Point, list[Point]]]:
    """Return single transfers with the kernel's own window, each with those of other windows, alike in all else."""
    same_way = [item for item in evidence.beside if evidence.way and item.way == evidence.way]
    single = [
        point
        for item in (evidence, *same_way)
        for original in item.points
        if original.statistic == SAMPLE and presence.DEFAULTS.get(original.tool) is presence.TRANSFERS
        for point in [pace.undisturbed(original, METRIC)]
        if min(point.values(METRIC), default=0.0) > 0
        and item.is_of_way(point)
        and point.parameters.get("streams", 1) == point.parameters.get("concurrency", 1) == 1
        and not pace.flags_of(point)
    ]
    groups: dict[str, list[Point]] = {}
    for point in single:
        conditions = sorted((name, repr(value)) for name, value in rest_of(point.parameters, "window").items())
        groups.setdefault(repr((point.tool, point.experiment, conditions)), []).append(point)
    return [
        (own, [point for point in group if point.parameters.get("window")])
        for group in groups.values()
        for own in group
        if not own.parameters.get("window")
    ]
