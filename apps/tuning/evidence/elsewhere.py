"""What came through the paths of a campaign in others of its team: one path has one capacity, whoever measured it."""

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping

from apps.bench.rules.base import Evidence, Point
from apps.bench.rules.passed import Passed
from apps.bench.rules.tcp.elsewhere import most_passed
from apps.bench.toolkit import Tool
from apps.bench.units.days import day_of
from apps.campaigns.models import Campaign
from apps.results.evidence import points, ways
from apps.results.evidence.lanes import Ends, lanes_elsewhere
from apps.testbeds import queries as testbeds

# Of the latest results between the same nodes so many are read.
MOST_RESULTS = 1000


def with_passed(campaign: Campaign, evidence_by_ends: Mapping[Ends, Evidence]) -> dict[Ends, Evidence]:
    """Return evidence with the most that came through the same way in another campaign, before it or after it.

    Only what counts, of which nothing is flagged; none of before, or after, a link of the path was described anew.
    """
    wanted = {own.way for own in evidence_by_ends.values() if len(own.way) == 2}
    passed = _passed(campaign, wanted)
    changes = _changes(campaign, evidence_by_ends.values()) if passed else {}
    joined = {}
    for ends, own in evidence_by_ends.items():
        until = max((point.at for point in own.points if point.at is not None), default=None)
        times = [at for link in own.path.links if (at := changes.get(link.name)) is not None]
        rates = [
            (rate, name, at)
            for rate, name, at in passed.get(own.way, ())
            if campaign.is_published or not _is_between(times, at, until)
        ]
        if rates:
            rate, name, at = max(rates, key=lambda item: item[0])
            # What is published was recorded here on a day that says nothing of it.
            day = day_of(at) if at is not None and not campaign.is_published else ""
            own = dataclasses.replace(own, elsewhere=Passed(rate, name, day))
        joined[ends] = own
    return joined


def _passed(
    campaign: Campaign, wanted: Iterable[tuple[int, ...]]
) -> dict[tuple[int, ...], list[tuple[float, str, float | None]]]:
    """Return {(sender, receiver): (rate, name, time) of each other campaign}."""
    lanes = lanes_elsewhere(campaign, wanted)
    cells: dict[tuple[int, Ends], list[tuple[Tool, Point]]] = defaultdict(list)
    names: dict[int, str] = {}
    for pk, point in points.of_lanes(lanes, most_results=MOST_RESULTS) if lanes else ():
        other = lanes[pk].lane.experiment.campaign
        names[other.pk] = other.name
        cells[other.pk, lanes[pk].ends].append((lanes[pk].tool, point))
    passed: dict[tuple[int, ...], list[tuple[float, str, float | None]]] = defaultdict(list)
    for (other_pk, ends), own in cells.items():
        for side in ways.sides_of(ends, own):
            rate = most_passed(Evidence(side.points, way=side.way, is_back=side.is_back))
            at = max((point.at for point in side.points if point.at is not None), default=None)
            if rate:
                passed[side.way].append((rate, names[other_pk], at))
    return passed


def _changes(campaign: Campaign, evidence: Iterable[Evidence]) -> dict[str, float]:
    """Return {name: when it was last described (Unix time)} of the links of paths."""
    names = {link.name for own in evidence for link in own.path.links}
    return {name: at.timestamp() for name, at in testbeds.links_described(campaign.team_id, names)}


def _is_between(times: Iterable[float], one: float | None, other: float | None) -> bool:
    """Return whether any of some times lies between two; where one of these is not known any may."""
    if one is None or other is None:
        return True
    first, last = sorted((one, other))
    return any(first < time <= last for time in times)
