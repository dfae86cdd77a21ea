"""The form of a curve, as far as a test bears it out."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from apps.bench.curve.order import chance_of_order
from apps.bench.curve.proofs import ALPHA, ALPHA_ALIKE, ProofTest, TestOutcome
from apps.bench.curve.scatter import PlaceScatter, scatter_of
from apps.bench.knee import NEAR, find_knee
from apps.bench.statistics import far_modes_of, step_of, still_rises

# So many places make a plateau: one that follows a rise may rise on.
LEAST_PLATEAU = 2


class CurveForm(Enum):
    """What a curve does."""

    FLAT = "flat"
    LEVELS_OFF = "levels-off"
    GROWS = "grows"
    FALLS = "falls"
    BEST = "best"
    # Its places differ by more than scatter does or do not: it can not be told.
    UNTOLD = "untold"


@dataclass(frozen=True)
class CurveReading:
    """What a curve does, and the test that says so.

    Places are positions in what was asked of, 0 for the first. `best` and `worst` are those of the highest and the
    lowest mean (turned round where less is better); `rivals` those that can not be told from the best. Only where the
    curve levels off: `start` is the first place of the plateau, `plateau` the mean of the centres from there on, and
    `knee` the x where it bends, None if it does so smoothly: such a curve has no clear knee.
    """

    form: CurveForm
    proof: TestOutcome
    best: int
    worst: int
    rivals: tuple[int, ...] = ()
    start: int | None = None
    plateau: float | None = None
    knee: float | None = None


def read_curve(
    xs: Sequence[float],
    groups: Sequence[Sequence[float]],
    *,
    centres: Sequence[float] | None = None,
    higher_is_better: bool | None = True,
) -> CurveReading:
    """Return the form of a curve over numbers: of each x, in ascending order, one figure or more.

    `centres` are what stands for the figures of each place where it is shown, their means unless given: what is said
    is true of them as well. It is flat if an equivalence test shows the extremes within 10 % of each other. It levels
    off if one shows all places from the start on within 5 % of their mean, a t test each one before below it, and one
    of trend not that they go on rising. It grows (falls) if the last place is above (below) the first by a t test, or
    by Kendall's test of the order where nothing was repeated, and no step goes back by 5 %. ValueError unless x
    ascends with finite figures at each.
    """
    if any(a >= b for a, b in itertools.pairwise(xs)) or len(xs) != len(groups):
        raise ValueError("a curve needs the figures of each x, and x in ascending order")
    places = read_places(groups, centres=centres, higher_is_better=higher_is_better)
    middles = _centres(groups, centres)
    if places.form is CurveForm.FLAT or places.proof.test is ProofTest.MODES or len(groups) < 2:
        return places
    scatter = scatter_of(groups)
    if higher_is_better and scatter.scale is None and (plateau := _plateau(scatter, middles, places)):
        stick = find_knee(xs, middles) if xs[0] > 0 else None
        return replace(plateau, knee=stick.at if stick and stick.is_clear else None)
    return _direction(scatter, middles, places) or places


def read_places(
    groups: Sequence[Sequence[float]],
    *,
    centres: Sequence[float] | None = None,
    higher_is_better: bool | None = True,
) -> CurveReading:
    """Return whether the figures of several places, of whatever order, are alike, or which place is best.

    The best is told if a t test shows it above the worst, corrected for all pairs (Bonferroni); its rivals are those
    that it is not above by a test of its own. Where repetitions fall into two modes, or all figures are equal,
    nothing is tested. ValueError without places, or for one without finite figures.
    """
    if not groups or not all(groups) or not all(math.isfinite(value) for group in groups for value in group):
        raise ValueError("a curve needs one or more finite figures at each place")
    middles = _centres(groups, centres)
    sign = -1.0 if higher_is_better is False else 1.0
    best = max(range(len(middles)), key=lambda place: sign * middles[place])
    worst = min(range(len(middles)), key=lambda place: sign * middles[place])
    n = min(map(len, groups))
    # A test of two places is as good as these were repeated, whatever the others were.
    smallest = min(len(groups[best]), len(groups[worst]))
    if len(groups) < 2:
        return CurveReading(CurveForm.UNTOLD, TestOutcome(ProofTest.NONE, n, None), best, worst)
    if far_modes_of(groups) is not None:
        return CurveReading(CurveForm.UNTOLD, TestOutcome(ProofTest.MODES, n, None), best, worst)
    if n > 1 and len({value for group in groups for value in group}) == 1:
        equal = TestOutcome(ProofTest.EQUAL, n, None)
        return CurveReading(CurveForm.FLAT, equal, best, worst, _others(groups, best))
    scatter = scatter_of(groups)
    top, bottom = max(middles[best], middles[worst]), min(middles[best], middles[worst])
    alike = scatter.alike(worst, best, 2 * NEAR)
    if top - bottom <= NEAR * abs(top) and alike is not None and alike <= ALPHA_ALIKE:
        return CurveReading(
            CurveForm.FLAT, TestOutcome(ProofTest.EQUIVALENCE, smallest, alike), best, worst, _others(groups, best)
        )
    rivals = tuple(
        place
        for place in _others(groups, best)
        if (p := _above(scatter, place, best, sign)) is None or p * (len(groups) - 1) > ALPHA
    )
    p = _above(scatter, worst, best, sign)
    pairs = len(groups) * (len(groups) - 1) / 2
    corrected = None if p is None else min(1.0, 2 * p * pairs)
    proof = (
        TestOutcome(ProofTest.NONE, n, None)
        if corrected is None
        else TestOutcome(ProofTest.STUDENT, smallest, corrected)
    )
    form = CurveForm.BEST if corrected is not None and corrected <= ALPHA else CurveForm.UNTOLD
    return CurveReading(form, proof, best, worst, rivals)


def _plateau(scatter: PlaceScatter, middles: Sequence[float], places: CurveReading) -> CurveReading | None:
    """Return a curve that levels off; None if the tests do not bear that out."""
    count, wider = len(middles), 0.0
    for start in range(1, count - LEAST_PLATEAU + 1):
        beyond, before = range(start, count), range(start)
        plateau = math.fsum(middles[start:]) / len(beyond)
        if any(abs(value - plateau) > NEAR * plateau for value in middles[start:]):
            continue
        flat = scatter.within(beyond, NEAR)
        if flat is None or flat > ALPHA_ALIKE:
            continue
        logarithms = scatter.groups[start:]
        tail = [[math.exp(value - scatter.means[-1]) for value in group] for group in logarithms]
        if still_rises(tail, wider):
            wider = max(wider, step_of(tail))
            continue
        grown = [scatter.below(place, beyond) for place in before]
        chances = [p for p in grown if p is not None]
        is_grown = len(chances) == len(grown) and max(chances) <= ALPHA and min(middles) < (1 - NEAR) * plateau
        if not is_grown or not _ascends(middles[: start + 1]):
            return None
        proof = TestOutcome(ProofTest.EQUIVALENCE, min(map(len, scatter.groups)), max(flat, *chances))
        return CurveReading(CurveForm.LEVELS_OFF, proof, places.best, places.worst, places.rivals, start, plateau)
    return None


def _direction(scatter: PlaceScatter, middles: Sequence[float], places: CurveReading) -> CurveReading | None:
    """Return a curve that grows or falls from its first place to its last; None if it does neither surely."""
    last = len(middles) - 1
    n = min(len(scatter.groups[0]), len(scatter.groups[last]))
    is_up = middles[last] > middles[0]
    if not _ascends(middles if is_up else [-value for value in middles], scale=max(map(abs, middles))):
        return None
    p = scatter.chance(0, last) if is_up else scatter.chance(last, 0)
    test, form = ProofTest.STUDENT, CurveForm.GROWS if is_up else CurveForm.FALLS
    if p is None:
        test, n, p = ProofTest.KENDALL, min(map(len, scatter.groups)), chance_of_order(middles)
    else:
        # Either direction would have been told.
        p = min(1.0, 2 * p)
    if p is None or p > ALPHA:
        return None
    return CurveReading(form, TestOutcome(test, n, p), places.best, places.worst, places.rivals)


def _ascends(middles: Sequence[float], scale: float | None = None) -> bool:
    """Return whether no step goes down by more than what counts as the same."""
    return all(b - a > -NEAR * (scale if a <= 0 and scale else abs(a)) for a, b in itertools.pairwise(middles))


def _above(scatter: PlaceScatter, low: int, high: int, sign: float) -> float | None:
    return scatter.chance(low, high) if sign > 0 else scatter.chance(high, low)


def _others(groups: Sequence[Sequence[float]], best: int) -> tuple[int, ...]:
    return tuple(place for place in range(len(groups)) if place != best)


def _centres(groups: Sequence[Sequence[float]], centres: Sequence[float] | None) -> Sequence[float]:
    if centres is None:
        return [math.fsum(group) / len(group) for group in groups]
    if len(centres) != len(groups):
        raise ValueError("a curve needs one centre for each place")
    return centres
