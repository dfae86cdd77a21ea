"""What several clients can reach together when their paths share links."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from apps.bench.network.paths import Path, PathLink

# A full-duplex link has its capacity in each direction: the link's key and the node it is entered from.
_Direction = tuple[Hashable, Hashable]
End = TypeVar("End")


@dataclass(frozen=True)
class Ceiling:
    """What concurrent flows can carry together, in bit/s.

    `total_bps` is None if a link of unknown capacity is involved; `known_bps` is the total if such links limit
    nothing (None if a flow then meets no limit at all). `rates_bps` are the flows' fair shares in the order of
    their paths, on the same terms. `limiting` are the links that are full, `unknown` those of unknown capacity.
    """

    total_bps: float | None
    known_bps: float | None
    rates_bps: tuple[float | None, ...]
    limiting: tuple[PathLink, ...]
    unknown: tuple[PathLink, ...]


def pairs_at_once(first: Sequence[End], second: Sequence[End]) -> tuple[tuple[End, End], ...]:
    """Return the pairs of two roles' nodes that move data at once: the first with the first, and so on.

    Where one role has fewer, its nodes take part in several pairs; where one has none there are no pairs.
    """
    if not first or not second:
        return ()
    count = max(len(first), len(second))
    return tuple((first[place % len(first)], second[place % len(second)]) for place in range(count))


def clients_ceiling_bps(paths: Sequence[Path]) -> Ceiling:
    """Return the ceiling of one flow a path, all at once: N paths over one 1 Gbit/s link make 1 Gbit/s.

    Rates by max-min fairness through progressive filling: all flows grow alike until a link is full, its flows
    stop, the others go on (Bertsekas, Gallager, Data Networks, 2nd ed., 6.5.2). Directions of a link do not share.
    Where all paths lead to (or from) one node, this is the most that any sharing could carry; where they cross in
    other ways an unfair sharing may carry more.
    """
    crossings = [_directions(path) for path in paths]
    links = {
        direction: link
        for path, crossed in zip(paths, crossings, strict=True)
        for direction, link in zip(crossed, path.links, strict=True)
    }
    left = {
        direction: Fraction(link.capacity_bps) for direction, link in links.items() if link.capacity_bps is not None
    }
    limited = [[direction for direction in crossed if direction in left] for crossed in crossings]
    rates: list[Fraction | None] = [None] * len(paths)
    growing = {flow for flow, directions in enumerate(limited) if directions}
    limiting: dict[_Direction, PathLink] = {}
    level = Fraction(0)
    while growing:
        flows_over = Counter(direction for flow in growing for direction in limited[flow])
        step = min(left[direction] / count for direction, count in flows_over.items())
        level += step
        for direction, count in flows_over.items():
            left[direction] -= step * count
        full = {direction for direction in flows_over if not left[direction]}
        limiting |= {direction: links[direction] for direction in flows_over if direction in full}
        for flow in [flow for flow in growing if not full.isdisjoint(limited[flow])]:
            rates[flow] = level
            growing.remove(flow)
    unknown = {link.key: link for link in links.values() if link.capacity_bps is None}
    rate_bps = None if None in rates else sum((rate for rate in rates if rate is not None), Fraction(0))
    return Ceiling(
        total_bps=None if unknown else _plain(rate_bps),
        known_bps=_plain(rate_bps),
        rates_bps=tuple(_plain(rate) for rate in rates),
        limiting=tuple({link.key: link for link in limiting.values()}.values()),
        unknown=tuple(unknown.values()),
    )


def _directions(path: Path) -> list[_Direction]:
    return [(link.key, node) for link, node in zip(path.links, path.nodes[:-1], strict=True)]


def _plain(rate: Fraction | None) -> float | None:
    """Return a rate as int where it is whole, so that nominal figures stay round."""
    if rate is None:
        return None
    return int(rate) if rate.denominator == 1 else float(rate)
