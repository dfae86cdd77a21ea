"""Trends and ratios that a publication prints without the figures behind them."""

import dataclasses
import functools
import math
import operator
from collections.abc import Iterable
from typing import Any, TypedDict

from django.db.models import Q

from apps.bench.rules.base import PathFacts, Ratio, Trend
from apps.campaigns.models import Campaign, Experiment
from apps.tuning.evidence.lanes import Measured


class Printed(TypedDict):
    """What `Evidence` takes of it."""

    trends: tuple[Trend, ...]
    ratios: tuple[Ratio, ...]


def has_any(experiment: Experiment) -> bool:
    """Say whether the experiment is of a publication that prints trends or ratios of it."""
    return bool(experiment.printed)


def path_of(campaign: Campaign, path: PathFacts) -> PathFacts:
    """Return a path with what the publication says of it itself; where that differs no link is its bottleneck."""
    told = campaign.publication.get("path") or {}
    if not told:
        return path
    agrees = told.get("capacity_bps", path.capacity_bps) == path.capacity_bps
    return dataclasses.replace(path, **told, bottleneck=path.bottleneck if agrees else "")


def of_lanes(lanes: Iterable[Measured]) -> Printed:
    """Return what is printed of the experiments of lanes."""
    experiments = {item.lane.experiment_id: item.lane.experiment for item in lanes}
    own = [experiment.printed for experiment in experiments.values() if experiment.printed]
    return Printed(
        trends=tuple(Trend(**_plain(item)) for printed in own for item in printed.get("trends", ())),
        ratios=tuple(Ratio(**_open_ended(_plain(item))) for printed in own for item in printed.get("ratios", ())),
    )


def file_systems_in(lanes: Iterable[Measured]) -> Q | None:
    """Return which file systems are named by what is printed of lanes; None for none."""
    wanted: dict[int, set[str]] = {}
    for experiment in {item.lane.experiment for item in lanes if item.lane.experiment.printed}:
        for ratio in experiment.printed.get("ratios", ()):
            names = {side["file_system"] for side in (ratio["of"], ratio["to"]) if "file_system" in side}
            wanted.setdefault(experiment.campaign.team_id, set()).update(names)
    found = [Q(team=team, name__in=names) for team, names in wanted.items() if names]
    return functools.reduce(operator.or_, found) if found else None


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "trials": tuple(item.get("trials", ()))}


def _open_ended(item: dict[str, Any]) -> dict[str, Any]:
    """Return a ratio whose upper end, which JSON has as null, is open."""
    return {**item, "high": math.inf if item["high"] is None else item["high"]}
