"""Which factors of a sweep matter: the share of the variance that each, and each pair, explains."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from apps.bench.statistics.differences import adjust_holm
from apps.bench.statistics.distributions import f_tail
from apps.bench.statistics.least_squares import explained_beyond


@dataclass(frozen=True)
class EffectShare:
    """What one factor, or the interaction of two, explains.

    `share` is eta squared (0 to 1), the sum of squares over the whole; None where what was measured does not tell it
    from others. `p` is that of the F test against repetition, corrected for the number of tests; None where nothing
    was repeated.
    """

    factors: tuple[str, ...]
    share: float | None
    p: float | None


@dataclass(frozen=True)
class Importance:
    """The shares, the largest first, and what is left: `rest` of higher interactions, `noise` of repetition.

    `is_balanced` says whether every combination has the same number of values; where not, each share is what a factor
    explains beyond all others, and `shared` what they explain that none of them does alone.
    """

    shares: tuple[EffectShare, ...]
    shared: float
    rest: float
    noise: float
    is_balanced: bool


def explain_variance(columns: Mapping[str, Sequence[object]], values: Sequence[float]) -> Importance | None:
    """Return what factors explain of figures; None if there is no variance or factor.

    `columns` has each factor's settings, as many as `values`; ValueError if not. Analysis of variance by sums of
    squares (Fisher, 1925; Jain, 1991, chapter 22): of a factor between its values, of a pair between its combinations
    less its factors' own. Where combinations were not measured equally often these would hold each other's effects:
    then of each what it explains beyond all others (type II), None where there are too many settings for that.
    """
    keyed = {name: [_key(value) for value in columns[name]] for name in sorted(columns)}
    keyed = {name: column for name, column in keyed.items() if len(set(column)) > 1}
    mean = math.fsum(values) / len(values) if values else 0.0
    off = [value - mean for value in values]
    whole = math.fsum(value * value for value in off)
    if not keyed or whole <= 0:
        return None
    cells: dict[tuple[object, ...], list[float]] = defaultdict(list)
    for key, value in zip(zip(*keyed.values(), strict=True), off, strict=True):
        cells[key].append(value)
    within = math.fsum(_squares(cell) for cell in cells.values())
    free = len(values) - len(cells)
    # Of a cell, all that the terms need are how many values it has and what these add up to.
    sums = [(len(cell), math.fsum(cell)) for cell in cells.values()]
    settings = dict(zip(keyed, zip(*cells, strict=True), strict=True))
    is_balanced = len({len(cell) for cell in cells.values()}) == 1 and len(cells) == math.prod(
        len(set(column)) for column in settings.values()
    )
    read = _terms(settings, sums) if is_balanced else explained_beyond(settings, sums)
    if read is None:
        return None
    terms, explained = read
    ps = {
        factors: p
        for factors, (squares, degrees) in terms.items()
        if degrees and (p := _p_of(squares, degrees, within, free)) is not None
    }
    tested = dict(zip(ps, adjust_holm([*ps.values()]), strict=True))
    shares = [
        EffectShare(factors, squares / whole if degrees else None, tested.get(factors))
        for factors, (squares, degrees) in terms.items()
        # Combinations that were not measured tell nothing of a pair.
        if degrees or len(factors) == 1
    ]
    unshared = math.fsum(share.share or 0.0 for share in shares)
    return Importance(
        shares=tuple(sorted(shares, key=lambda share: -(share.share or 0.0))),
        shared=max(0.0, explained / whole - unshared),
        rest=max(0.0, 1 - (explained + within) / whole),
        noise=within / whole,
        is_balanced=is_balanced,
    )


def _terms(
    settings: Mapping[str, Sequence[object]], sums: Sequence[tuple[int, float]]
) -> tuple[dict[tuple[str, ...], tuple[float, int]], float]:
    """Return {term: (sum of squares, degrees)} of combinations measured equally often, and that of all of them."""
    terms: dict[tuple[str, ...], tuple[float, int]] = {}
    for name, column in settings.items():
        squares, groups = _between(column, sums)
        terms[(name,)] = squares, groups - 1
    for a, b in itertools.combinations(settings, 2):
        squares, groups = _between(zip(settings[a], settings[b], strict=True), sums)
        (own, own_degrees), (other, other_degrees) = terms[(a,)], terms[(b,)]
        terms[a, b] = max(0.0, squares - own - other), groups - 1 - own_degrees - other_degrees
    return terms, math.fsum(squares for squares, _degrees in terms.values())


def _p_of(squares: float, degrees: int, within: float, free: int) -> float | None:
    if not free:
        return None
    if not within:
        return 0.0 if squares else 1.0
    return f_tail(squares / degrees / (within / free), degrees, free)


def _key(value: object) -> object:
    # 1 and True are one key of a dictionary, but two settings.
    return (type(value).__name__, value) if isinstance(value, bool) else value


def _between(settings: Iterable[object], sums: Sequence[tuple[int, float]]) -> tuple[float, int]:
    """Return the sum of squares between the groups that cells of one setting make, and how many groups there are.

    `sums` are (number of values, their sum of distances from the mean) of each cell.
    """
    groups: dict[object, list[float]] = {}
    for setting, (count, total) in zip(settings, sums, strict=True):
        if group := groups.get(setting):
            group[0] += count
            group[1] += total
        else:
            groups[setting] = [count, total]
    return math.fsum(total * total / count for count, total in groups.values()), len(groups)


def _squares(values: Sequence[float]) -> float:
    if len(values) == 1:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values)
