"""What came through a way in the campaigns of its team: one path has one capacity, whichever page states it."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Max

from apps.bench.rules.base import Evidence, Point
from apps.bench.rules.passed import Passed
from apps.bench.rules.tcp.elsewhere import most_passed
from apps.bench.toolkit import Tool, goes_back
from apps.bench.toolkit.ways import in_order
from apps.bench.units.days import day_of
from apps.campaigns.models import Campaign, Trial
from apps.results import queries
from apps.results.evidence import points, ways
from apps.results.evidence.lanes import Ends, lanes_along
from apps.testbeds import queries as testbeds
from apps.testbeds.models import Node

K = TypeVar("K", bound=Hashable)
Way = tuple[int, ...]

# Of the latest results between the same nodes so many are read.
MOST_RESULTS = 1000


@dataclass(frozen=True)
class WayMeasured:
    """A way (sender, receiver) as something is said of it: its links' names, and when it was measured (Unix time).

    What the campaign `asking` measured itself is left out; 0 leaves none out. Where it `is_beyond_team`, others than
    the team read it, and hear of no campaign that not everybody sees.
    """

    way: Way
    links: frozenset[str]
    at: float | None
    asking: int = 0
    is_beyond_team: bool = False


@dataclass(frozen=True)
class CampaignRate:
    """The most (bit/s) that came through in one campaign, and when (Unix time, None if nobody knows).

    `is_open` says whether everybody sees that campaign with its names.
    """

    rate_bps: float
    campaign: int
    name: str
    at: float | None
    is_open: bool


def most_along(team: int, measured: Mapping[K, WayMeasured], *, is_published: bool = False) -> dict[K, Passed]:
    """Return by key the most that came through the same way in another campaign, before it or after it.

    Only what counts, of which nothing is flagged; none of before, or after, a link of the way was described anew.
    Published figures are held against published ones, whose day says nothing: it is that of their import.
    """
    asked = {key: item for key, item in measured.items() if len(item.way) == 2}
    rates = rates_along(team, asked.values(), is_published=is_published) if asked else {}
    changes = _changes(team, asked.values()) if rates else {}
    passed: dict[K, Passed] = {}
    for key, item in asked.items():
        times = [at for name in item.links if (at := changes.get(name)) is not None]
        others = [
            rate
            for rate in rates.get(item.way, ())
            if rate.campaign != item.asking
            and (rate.is_open or not item.is_beyond_team)
            and (is_published or not _is_between(times, rate.at, item.at))
        ]
        if others:
            best = max(others, key=lambda rate: rate.rate_bps)
            day = day_of(best.at) if best.at is not None and not is_published else ""
            passed[key] = Passed(best.rate_bps, best.name, day)
    return passed


def passed_along(groups: Mapping[K, Collection[int]], tool: Tool, metric: str) -> dict[K, Passed]:
    """Return by key the most that came through the way that the data of some trials went, whoever measured it.

    None where they went several ways.
    """
    trials = {trial for own in groups.values() for trial in own}
    rows = (
        Trial.objects.filter(pk__in=trials)
        .select_related("lane", "campaign")
        .annotate(measured_at=Max("results__recorded_at"))
    )
    by_trial = {trial.pk: trial for trial in rows}
    way_of: dict[K, Way] = {}
    for key, own in groups.items():
        ways_of_group = {_way_of(by_trial[pk], tool, metric) for pk in own if pk in by_trial}
        if len(ways_of_group) == 1 and len(way := ways_of_group.pop()) == 2:
            way_of[key] = way
    links = _links_of(way_of.values())
    asked: dict[tuple[int, bool], dict[K, WayMeasured]] = defaultdict(dict)
    for key, way in way_of.items():
        own_trials = [by_trial[pk] for pk in groups[key] if pk in by_trial]
        times = [trial.measured_at.timestamp() for trial in own_trials if trial.measured_at]
        campaign = own_trials[0].campaign
        at = max(times, default=None)
        item = WayMeasured(way, links.get(way, frozenset()), at, is_beyond_team=campaign.is_beyond_team)
        asked[campaign.team_id, campaign.is_published][key] = item
    return {
        key: passed
        for (team, is_published), measured in asked.items()
        for key, passed in most_along(team, measured, is_published=is_published).items()
    }


def _way_of(trial: Trial, tool: Tool, metric: str) -> Way:
    ends = queries.ends_of(trial.lane, tool)
    # A publication says between whom, not which of a probe's ends sent.
    is_back = goes_back(None if trial.campaign.is_published else tool, trial.parameters, metric)
    return tuple(node for _role, node in in_order(ends, is_back=is_back))


def _links_of(wanted: Iterable[Way]) -> dict[Way, frozenset[str]]:
    """Return the names of the links along each way."""
    distinct, networks = list(dict.fromkeys(wanted)), testbeds.Networks()
    nodes = Node.objects.select_related("testbed").in_bulk({node for way in distinct for node in way})
    names = {}
    for way in distinct:
        if all(node in nodes for node in way):
            first, second = (nodes[node] for node in way)
            path = networks[first.team_id].path(first, second)
            names[way] = frozenset(link.name for link in path.links) if path else frozenset()
    return names


def rates_along(team: int, asked: Iterable[WayMeasured], *, is_published: bool) -> dict[Way, list[CampaignRate]]:
    """Return by way the most of each campaign that is known to all of the team."""
    items = list(asked)
    asking = {item.asking for item in items}
    lanes = lanes_along(
        team, {item.way for item in items}, is_published=is_published, besides=asking if len(asking) == 1 else ()
    )
    cells: dict[tuple[int, Ends], list[tuple[Tool, Point]]] = defaultdict(list)
    campaigns: dict[int, Campaign] = {}
    for pk, point in points.of_lanes(lanes, most_results=MOST_RESULTS) if lanes else ():
        campaign = lanes[pk].lane.experiment.campaign
        campaigns[campaign.pk] = campaign
        cells[campaign.pk, lanes[pk].ends].append((lanes[pk].tool, point))
    rates: dict[Way, list[CampaignRate]] = defaultdict(list)
    for (campaign_id, ends), own in cells.items():
        for side in ways.sides_of(ends, own):
            rate = most_passed(Evidence(side.points, way=side.way, is_back=side.is_back))
            at = max((point.at for point in side.points if point.at is not None), default=None)
            if rate:
                campaign = campaigns[campaign_id]
                rates[side.way].append(CampaignRate(rate, campaign_id, campaign.name, at, campaign.is_open))
    return rates


def _changes(team: int, asked: Iterable[WayMeasured]) -> dict[str, float]:
    """Return {name: when it was last described (Unix time)} of the links of ways."""
    names = {name for item in asked for name in item.links}
    return {name: at.timestamp() for name, at in testbeds.links_described(team, names)}


def _is_between(times: Iterable[float], one: float | None, other: float | None) -> bool:
    """Return whether any of some times lies between two; where one of these is not known any may."""
    if one is None or other is None:
        return True
    first, last = sorted((one, other))
    return any(first < time <= last for time in times)
