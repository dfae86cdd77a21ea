"""The ways that an experiment's traffic took: which routes were seen, how often, and what changed between them."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from apps.bench.network import routes
from apps.campaigns.models import Experiment
from apps.core.messages import render
from apps.results import queries
from apps.results.models import Result

# Of very many runs the last so many are looked at.
MOST = 2000


@dataclass(frozen=True)
class Way:
    """One route, the trials that took it, and when they were recorded first and last."""

    hops: tuple[str, ...]
    trials: tuple[int, ...]
    first_seen: datetime
    last_seen: datetime


@dataclass(frozen=True)
class RouteHistory:
    """The ways between the nodes of one lane, in the order in which they were first taken.

    `changes` are (trial that took another way than the one before it, what changed), in words.
    """

    nodes: str
    ways: tuple[Way, ...]
    changes: tuple[tuple[int, str], ...]


def histories_of(experiment: Experiment) -> list[RouteHistory]:
    """Return the routes that an experiment's runs saw, lane by lane: the tool's own or those of the look before."""
    rows = (
        Result.objects.filter(experiment=experiment)
        .order_by("-recorded_at", "-pk")
        .values_list(
            "trial__lane_id", "trial_id", "recorded_at", "observed__route", "observed__context__before__route"
        )[:MOST]
    )
    sightings_by_lane: dict[int, list[tuple[int, datetime, routes.Route]]] = defaultdict(list)
    for lane, trial, moment, own, before in reversed(rows):
        route = routes.from_json(own) or routes.from_json(before)
        if route:
            sightings_by_lane[lane].append((trial, moment, route))
    names = queries.lane_names(experiment) if sightings_by_lane else {}
    return [_history(names[lane], sightings) for lane, sightings in sorted(sightings_by_lane.items())]


def _history(nodes: str, sightings: list[tuple[int, datetime, routes.Route]]) -> RouteHistory:
    ways = routes.variants([route for _trial, _moment, route in sightings])
    way_by_place = {place: way for way in ways for place in way.sightings}
    changes = [
        (sightings[after][0], render(routes.compare(way_by_place[before].route, way_by_place[after].route).message))
        for before, after in pairwise(range(len(sightings)))
        if way_by_place[before] is not way_by_place[after]
    ]
    return RouteHistory(
        nodes=nodes,
        ways=tuple(
            Way(
                hops=tuple("/".join(hop) or "*" for hop in way.route),
                trials=tuple(sightings[place][0] for place in way.sightings),
                first_seen=sightings[way.sightings[0]][1],
                last_seen=sightings[way.sightings[-1]][1],
            )
            for way in ways
        ),
        changes=tuple(changes),
    )
