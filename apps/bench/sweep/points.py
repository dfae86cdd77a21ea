"""Expand a sweep to its points, count them without doing so, and name each point for good."""

import hashlib
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from apps.bench import units
from apps.bench.sweep.axes import Grid, read_grid
from apps.bench.sweep.errors import SweepError
from apps.bench.sweep.exclusions import Exclusion, ExclusionError
from apps.bench.sweep.spec import MAX_TRIALS, Parameters, Point, SweepSpec
from apps.bench.text import Message, _


@dataclass(frozen=True)
class SweepSize:
    """How much a sweep makes.

    `values` {factor: how many values}; `repeated` {zipped or single factors: how often values came again and were
    dropped}; `candidates` points before and `points` after exclusions; `excluded_by` what each exclusion leaves
    out, whatever the others do; `measured` and `warmups` trials.
    """

    values: Mapping[str, int]
    repeated: Mapping[str, int]
    candidates: int
    points: int
    excluded_by: tuple[int, ...]
    measured: int
    warmups: int

    @property
    def trials(self) -> int:
        """Return how many trials are carried out, warm-ups included."""
        return self.measured + self.warmups


def expand_points(spec: SweepSpec, parameters: Parameters) -> list[Point]:
    """Return the points {factor: typed value in base units} in the order given, the first factor varying slowest.

    A sweep without factors is one point. SweepError names every field that is wrong; also when exclusions leave
    nothing, or when there would be more than MAX_TRIALS trials.
    """
    grid = read_grid(spec, parameters)
    points = list(_iterate_points(grid))
    _check_size(len(points), spec)
    return points


def count_trials(spec: SweepSpec, parameters: Parameters) -> SweepSize:
    """Return how many points and trials a sweep makes; only the factors that exclusions name are expanded.

    SweepError as from `expand_points`.
    """
    grid = read_grid(spec, parameters)
    involved = _involved_axes(grid)
    others = grid.candidates // math.prod(len(grid.axes[index].rows) for index in involved)
    combinations = 0
    excluded_by = [0] * len(grid.exclusions)
    for _indices, values in _iterate_involved(grid, involved):
        verdicts = [_excludes(exclusion, position, values) for position, exclusion in enumerate(grid.exclusions)]
        combinations += not any(verdicts)
        excluded_by = [count + verdict for count, verdict in zip(excluded_by, verdicts, strict=True)]
    points = combinations * others
    _check_size(points, spec)
    return SweepSize(
        values={name: len(axis.rows) for axis in grid.axes for name in axis.names},
        repeated={", ".join(axis.names): axis.repeated for axis in grid.axes if axis.repeated},
        candidates=grid.candidates,
        points=points,
        excluded_by=tuple(count * others for count in excluded_by),
        measured=points * spec.repetitions,
        warmups=points * spec.warmups,
    )


def point_key(point: Mapping[str, units.Value]) -> str:
    """Return 16 hexadecimal digits that name a point by its values, whatever the order of its factors.

    A value is the same whether it went through JSON or not: 10 and 10.0 make one key.
    """
    text = "\x1f".join(f"{name}={_key_value(point[name])}" for name in sorted(point))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _key_value(value: units.Value) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return repr(value)


def _iterate_points(grid: Grid) -> Iterator[Point]:
    names = grid.names
    if not grid.exclusions:
        for rows in itertools.product(*(axis.rows for axis in grid.axes)):
            yield dict(zip(names, itertools.chain.from_iterable(rows), strict=True))
        return
    involved = _involved_axes(grid)
    allowed_rows = {
        indices
        for indices, values in _iterate_involved(grid, involved)
        if not any(_excludes(exclusion, position, values) for position, exclusion in enumerate(grid.exclusions))
    }
    for candidate in itertools.product(*(enumerate(axis.rows) for axis in grid.axes)):
        if tuple(candidate[index][0] for index in involved) in allowed_rows:
            yield dict(zip(names, itertools.chain.from_iterable(row for _index, row in candidate), strict=True))


def _involved_axes(grid: Grid) -> list[int]:
    """Return the indices of the axes that some exclusion names."""
    needed: set[str] = set().union(*(exclusion.names for exclusion in grid.exclusions))
    return [index for index, axis in enumerate(grid.axes) if not needed.isdisjoint(axis.names)]


def _iterate_involved(grid: Grid, involved: list[int]) -> Iterator[tuple[tuple[int, ...], Mapping[str, units.Value]]]:
    """Yield each combination of rows of the involved axes: its indices, and its values beside the fixed ones."""
    axes = [grid.axes[index] for index in involved]
    names = [name for axis in axes for name in axis.names]
    for candidate in itertools.product(*(enumerate(axis.rows) for axis in axes)):
        rows = itertools.chain.from_iterable(row for _index, row in candidate)
        yield tuple(index for index, _row in candidate), {**grid.fixed, **dict(zip(names, rows, strict=True))}


def _excludes(exclusion: Exclusion, position: int, values: Mapping[str, units.Value]) -> bool:
    try:
        return exclusion.excludes(values)
    except ExclusionError as error:
        raise SweepError({f"exclusions.{position}": error.message}) from error


def _check_size(points: int, spec: SweepSpec) -> None:
    if not points:
        raise SweepError({"exclusions": Message(_("The exclusions leave no point at all: loosen or remove one."))})
    trials = points * (spec.repetitions + spec.warmups)
    if trials > MAX_TRIALS:
        raise SweepError(
            {
                "trials": Message(
                    _("This sweep makes %(count)s trials, more than %(limit)s: use fewer values or repetitions."),
                    {"count": trials, "limit": MAX_TRIALS},
                )
            }
        )
