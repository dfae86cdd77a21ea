"""Where the ranks of a parallel program were to run and where they ran, for the trial's page."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.results.models import Result

# A page shows so many ranks; all of them are in the run's file of the placement, and in REST.
SHOWN_RANKS = 128


@dataclass(frozen=True)
class RankPlacement:
    """The place of one rank in words, "" where nothing is known of it."""

    rank: str
    asked: str
    got: str


@dataclass(frozen=True)
class Placement:
    """The places of the first ranks, and of how many there are more."""

    places: list[RankPlacement]
    others: int


def placement_of(result: Result) -> Placement | None:
    """Return the map of ranks of a result, None if it has none."""
    requested, got = (_by_rank(record.get("map")) for record in (result.requested, result.observed))
    ranks = list(dict.fromkeys([*requested, *got]))
    if not ranks:
        return None
    places = [
        RankPlacement(rank, _words_of(requested.get(rank)), _words_of(got.get(rank))) for rank in ranks[:SHOWN_RANKS]
    ]
    return Placement(places, len(ranks) - len(places))


def _by_rank(launch_maps: object) -> dict[str, Mapping[str, object]]:
    """Return {rank: place} of a map, or {launch/rank: place} of several launches' maps, numbered from 1."""
    if not isinstance(launch_maps, list):
        return {}
    launches = launch_maps if launch_maps and all(isinstance(item, list) for item in launch_maps) else [launch_maps]
    return {
        f"{number}/{place.get('rank')}" if launches is launch_maps else str(place.get("rank")): place
        for number, launch in enumerate(launches, 1)
        for place in launch
        if isinstance(place, Mapping)
    }


def _words_of(place: Mapping[str, object] | None) -> str:
    """Return "kisti-1, core 0:1": a node, and the cores (as socket:core) or processors that the rank is bound to."""
    if place is None:
        return ""
    node = str(place.get("node") or place.get("host") or "")
    cores, cpus = place.get("cores"), place.get("cpus")
    if place.get("core") or cores:
        cores_text = " ".join(map(str, cores)) if isinstance(cores, list) and cores else str(place.get("core"))
        return _("%(node)s, core %(cores)s") % {"node": node, "cores": cores_text}
    if isinstance(cpus, list) and cpus:
        return _("%(node)s, processor %(cpus)s") % {"node": node, "cpus": " ".join(map(str, cpus))}
    return _("%(node)s, not bound") % {"node": node} if [] in (cores, cpus) else node
