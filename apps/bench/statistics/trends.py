"""Whether figures that look level go on growing from place to place."""

import math
from collections.abc import Sequence

from apps.bench.statistics.distributions import student_t_tail

# One level of a hundred is taken for a rise by chance; a rise of less over all of its places is level for who reads.
ALPHA, LEAST_RISE = 0.01, 0.015
# What goes on growing by more than this share of what was seen over more places did not stop to grow.
STOPPED = 0.5
# Below so many degrees of freedom the scatter itself is not known.
LEAST_FREE = 2


def step_of(groups: Sequence[Sequence[float]]) -> float:
    """Return by which share the means of places grow from one place to the next (least squares of logarithms)."""
    centre = (len(groups) - 1) / 2
    return math.fsum((place - centre) * mean for place, mean in enumerate(_means(groups))) / _spread(groups)


def still_rises(groups: Sequence[Sequence[float]], wider: float = 0.0) -> bool:
    """Return whether figures (above zero) of places, in their order, surely rise and by so much that it matters.

    By a t test of the linear contrast of the means; where only the first place lies below the others the curve bends.
    `wider` is the step of a larger part of the curve that rises: what goes on growing like that has not stopped,
    however short it is. False where nothing was repeated.
    """
    if len(groups) < 2 or not all(groups) or min(min(group) for group in groups) <= 0:
        return False
    step = step_of(groups)
    if wider and step >= STOPPED * wider:
        return True
    free = sum(len(group) - 1 for group in groups)
    if free < LEAST_FREE or step * (len(groups) - 1) <= math.log1p(LEAST_RISE):
        return False
    if len(groups) > 2 and step_of(groups[1:]) < STOPPED * step:
        return False
    means, centre, spread = _means(groups), (len(groups) - 1) / 2, _spread(groups)
    squares = math.fsum(
        (math.log(value) - mean) ** 2 for group, mean in zip(groups, means, strict=True) for value in group
    )
    shares = math.fsum((place - centre) ** 2 / len(group) for place, group in enumerate(groups)) / spread**2
    error = math.sqrt(squares / free * shares)
    return not error or student_t_tail(step / error, free) <= ALPHA


def _means(groups: Sequence[Sequence[float]]) -> list[float]:
    return [math.fsum(math.log(value) for value in group) / len(group) for group in groups]


def _spread(groups: Sequence[Sequence[float]]) -> float:
    centre = (len(groups) - 1) / 2
    return math.fsum((place - centre) ** 2 for place in range(len(groups)))
