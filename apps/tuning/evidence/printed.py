"""Trends and ratios that a publication prints without the figures behind them."""

import dataclasses
import functools
import math
import operator
from collections.abc import Iterable
from typing import Any, TypedDict

from django.db.models import Q

from apps.bench.rules.base import LinkFacts, PathFacts, Ratio, Trend
from apps.campaigns.models import Campaign, Experiment
from apps.results.evidence.lanes import MeasuredLane


class Printed(TypedDict):
    """What `Evidence` takes of it."""

    trends: tuple[Trend, ...]
    ratios: tuple[Ratio, ...]


def has_any(experiment: Experiment) -> bool:
    """Say whether the experiment is of a publication that prints trends or ratios of it."""
    return bool(experiment.printed)


def path_of(campaign: Campaign, path: PathFacts) -> PathFacts:
    """Return a path as the publication has it: its own RTT and capacity, and no link above the most that it tells.

    What the links are said to have gives way: those below the path's capacity have at least that, the narrowest no
    more.
    """
    printed_path = campaign.publication.get("path") or {}
    capacity, maximum = printed_path.get("capacity_bps"), printed_path.get("most_bps")
    links = list(path.links)
    if capacity:
        links = [_with_capacity(link, max(link.capacity_bps or 0, capacity)) for link in links]
        narrowest = _narrowest(links, path.bottleneck)
        links = [_with_capacity(link, capacity) if link is narrowest else link for link in links]
    if maximum:
        links = [_with_capacity(link, min(link.capacity_bps or maximum, maximum)) for link in links]
    capacities = [link.capacity_bps for link in links if link.capacity_bps]
    bottleneck = _narrowest(links, path.bottleneck)
    return dataclasses.replace(
        path,
        capacity_bps=min(capacities)
        if capacities and len(capacities) == len(links)
        else capacity or maximum or path.capacity_bps,
        rtt_s=printed_path.get("rtt_s", path.rtt_s),
        links=tuple(links),
        bottleneck=bottleneck.name if bottleneck else "",
    )


def _with_capacity(link: LinkFacts, capacity_bps: float) -> LinkFacts:
    return dataclasses.replace(link, capacity_bps=capacity_bps)


def _narrowest(links: Iterable[LinkFacts], usual: str) -> LinkFacts | None:
    """Return the link of the lowest capacity, of equals the one that is the bottleneck usually; None without any."""
    with_capacity = [link for link in links if link.capacity_bps]
    return min(with_capacity, key=lambda link: (link.capacity_bps or 0, link.name != usual), default=None)


def of_lanes(lanes: Iterable[MeasuredLane]) -> Printed:
    """Return what is printed of the experiments of lanes."""
    experiments = {item.lane.experiment_id: item.lane.experiment for item in lanes}
    own = [experiment.printed for experiment in experiments.values() if experiment.printed]
    return Printed(
        trends=tuple(Trend(**_plain(item)) for printed in own for item in printed.get("trends", ())),
        ratios=tuple(Ratio(**_open_ended(_plain(item))) for printed in own for item in printed.get("ratios", ())),
    )


def file_systems_in(lanes: Iterable[MeasuredLane]) -> Q | None:
    """Return which file systems are named by what is printed of lanes; None for none."""
    names_by_team: dict[int, set[str]] = {}
    for experiment in {item.lane.experiment for item in lanes if item.lane.experiment.printed}:
        for ratio in experiment.printed.get("ratios", ()):
            names = {side["file_system"] for side in (ratio["of"], ratio["to"]) if "file_system" in side}
            names_by_team.setdefault(experiment.campaign.team_id, set()).update(names)
    conditions = [Q(team=team, name__in=names) for team, names in names_by_team.items() if names]
    return functools.reduce(operator.or_, conditions) if conditions else None


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "trials": tuple(item.get("trials", ()))}


def _open_ended(item: dict[str, Any]) -> dict[str, Any]:
    """Return a ratio whose upper end, which JSON has as null, is open."""
    return {**item, "high": math.inf if item["high"] is None else item["high"]}
