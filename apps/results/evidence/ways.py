"""What was measured between two ends, by the way that its data went."""

import dataclasses
from collections.abc import Sequence

from apps.bench.rules.base import Point
from apps.bench.rules.told import known_or_none, unknown_in
from apps.bench.toolkit import Tool
from apps.bench.toolkit.ways import BACK, BOTH, base_of, has_way, in_order
from apps.results.evidence.lanes import Ends


@dataclasses.dataclass(frozen=True)
class Side:
    """The points whose data went one way, with those of both, such as round-trip times.

    `ends` begin with who sends; the trials `told_beside` have no way, and are told of with the other side.
    """

    ends: Ends
    points: tuple[Point, ...]
    way: tuple[int, ...]
    is_back: bool
    told_beside: frozenset[int] = frozenset()


def sides_of(ends: Ends, points: Sequence[tuple[Tool, Point]]) -> list[Side]:
    """Return what data had each way, that from the first role first; all in one where it went one way only."""
    by_way: dict[bool, list[Point]] = {False: [], True: []}
    ways: set[bool] = set()
    neutral: set[int] = set()
    for tool, point in points:
        if not has_way(tool, point.metrics):
            neutral |= _trials(point)
            by_way[False].append(point)
            by_way[True].append(point)
            continue
        for part in _parts(point):
            # Where nobody told the direction they stand with those that went forth, and no rule reads which it was.
            is_back = Tool.backwards_at[0] not in unknown_in(part.parameters) and part.goes_back()
            ways.add(is_back)
            by_way[is_back].append(part)
    return [
        _side(ends, by_way[is_back], is_back, frozenset(neutral) if is_back and len(ways) > 1 else frozenset())
        for is_back in sorted(ways or {False})
    ]


def _side(ends: Ends, points: Sequence[Point], is_back: bool, told_beside: frozenset[int]) -> Side:
    ordered = tuple(in_order(ends, is_back=is_back))
    way = tuple(node for _role, node in ordered[:2])
    return Side(ordered, tuple(points), way, is_back, told_beside)


def _parts(point: Point) -> list[Point]:
    """Return a point, of one whose data went both ways at once what each way had, by the same names."""
    back = {base_of(name): own for name, own in point.metrics.items() if name.endswith(BACK)}
    if known_or_none(point.parameters, Tool.backwards_at[0]) != BOTH or not back:
        return [point]
    forth = {name: own for name, own in point.metrics.items() if not name.endswith(BACK)}
    return [dataclasses.replace(point, metrics=forth), dataclasses.replace(point, metrics=back, is_back=True)]


def _trials(point: Point) -> set[int]:
    return {trial for own in point.metrics.values() for trial in own}
