"""The route of a path, kept in one form whichever tool saw it, and what changed between two sightings of it."""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.bench.text import Message, _

# The addresses seen at each hop, from the first on, in a fixed order; none where nothing answered.
Route = tuple[tuple[str, ...], ...]

SAME, BALANCED, CHANGED = "same", "balanced", "changed"


@dataclass(frozen=True)
class RouteComparison:
    """How a route differs from an earlier sighting.

    `kind` is same, balanced (only hops differ among whose addresses the traffic is spread), or changed. `first` is
    the number of the first hop that differs (from 1); `before` and `after` are the stretches that differ from there.
    """

    kind: str
    first: int = 0
    before: Route = ()
    after: Route = ()

    @property
    def is_change(self) -> bool:
        """Return whether the traffic took another way."""
        return self.kind == CHANGED

    @property
    def message(self) -> Message:
        """Return what changed, in words."""
        if self.kind == SAME:
            return Message(_("The route is the same."))
        values = {"hop": self.first, "before": _in_words(self.before), "after": _in_words(self.after)}
        if self.kind == BALANCED:
            text = _("The traffic is spread from hop %(hop)s on: %(before)s, then %(after)s.")
            return Message(text, values)
        if not self.before:
            return Message(_("The route has new hops from hop %(hop)s on: %(after)s."), values)
        if not self.after:
            return Message(_("The route has lost its hops from hop %(hop)s on: %(before)s."), values)
        return Message(_("The route changed at hop %(hop)s: %(before)s became %(after)s."), values)


@dataclass(frozen=True)
class Variant:
    """One of the ways that traffic took: all addresses seen on it, and the places of its sightings in their order."""

    route: Route
    sightings: tuple[int, ...]


def make_route(hops: Iterable[tuple[int, Iterable[str]]]) -> Route:
    """Return the route of (number from 1, addresses that answered) pairs; a number may come several times.

    Hops of which nothing is told are silent. Scopes are dropped and IPv6 is written in its short form.
    """
    addresses_by_hop: dict[int, set[str]] = {}
    for number, addresses in hops:
        addresses_by_hop.setdefault(number, set()).update(normalise(address) for address in addresses)
    last = max(addresses_by_hop, default=0)
    return tuple(tuple(sorted(addresses_by_hop.get(number, ()))) for number in range(1, last + 1))


def normalise(address: str) -> str:
    """Return an address in its one form; what is no address (a name) in lower case."""
    plain = address.partition("%")[0].lower()
    try:
        return str(ipaddress.ip_address(plain))
    except ValueError:
        return plain.rstrip(".")


def as_json(route: Route) -> list[list[str]]:
    """Return the form in which a reading keeps a route: ``observed["route"]``."""
    return [list(hop) for hop in route]


def from_json(data: Any) -> Route | None:
    """Return the route that ``as_json`` wrote, None for anything else."""
    if not isinstance(data, list) or not data:
        return None
    if not all(isinstance(hop, list) and all(isinstance(address, str) for address in hop) for hop in data):
        return None
    return tuple(tuple(hop) for hop in data)


def compare(before: Route, after: Route) -> RouteComparison:
    """Return what changed from an earlier sighting of a route to a later one.

    Two sightings of a hop agree if they share an address, or if nothing answered in one of them. A hop at which one
    sighting alone saw several addresses is one that spreads traffic: another address there is no change of the route.
    """
    before, after = _align(before, after)
    start = 0
    while start < min(len(before), len(after)) and _agree(before[start], after[start]):
        start += 1
    end = 0
    common_length = min(len(before), len(after)) - start
    while end < common_length and _agree(before[-1 - end], after[-1 - end]):
        end += 1
    left, right = before[start : len(before) - end], after[start : len(after) - end]
    if not left and not right:
        return RouteComparison(SAME)
    spread = len(left) == len(right) and all(
        _agree(one, other) or len(one) > 1 or len(other) > 1 for one, other in zip(left, right, strict=True)
    )
    return RouteComparison(BALANCED if spread else CHANGED, start + 1, left, right)


def merge(one: Route, other: Route) -> Route:
    """Return a route with all addresses of two sightings of it; ValueError if they have not the same length."""
    return tuple(tuple(sorted({*a, *b})) for a, b in zip(one, other, strict=True))


def variants(routes: Sequence[Route]) -> tuple[Variant, ...]:
    """Return the different ways among sightings in order of time, each with the sightings that took it.

    Addresses add up: what a hop that spreads traffic once showed is known for the sightings after it.
    """
    ways: list[tuple[Route, list[int]]] = []
    for place, route in enumerate(routes):
        for index, (way, sightings) in enumerate(ways):
            one, other = _align(way, route)
            if len(one) == len(other) and not compare(one, other).is_change:
                ways[index] = (merge(one, other), [*sightings, place])
                break
        else:
            ways.append((route, [place]))
    return tuple(Variant(route, tuple(sightings)) for route, sightings in ways)


def _align(one: Route, other: Route) -> tuple[Route, Route]:
    """Return two sightings, the longer one without as many of the silent hops before its end as it has too many.

    Hosts limit how often they say that they were reached: the probe that first reached the end may go unanswered, and
    a later one, with more hops to live, be the first that is.
    """
    if len(one) < len(other):
        other, one = _align(other, one)
        return one, other
    end = len(one) - 1
    while end > 0 and not one[end - 1] and end >= len(other):
        end -= 1
    return (*one[:end], *one[-1:]), other


def _agree(one: Sequence[str], other: Sequence[str]) -> bool:
    return not one or not other or not set(one).isdisjoint(other)


def _in_words(hops: Route) -> str:
    return ", ".join("/".join(hop) or "*" for hop in hops)
