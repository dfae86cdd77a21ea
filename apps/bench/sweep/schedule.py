"""The order in which the points of a sweep are tried."""

import random
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from apps.bench.sweep.errors import SweepError
from apps.bench.sweep.spec import RANDOMISED, Point, SweepSpec, check_schedule

_Item = TypeVar("_Item")


class TrialSpec(NamedTuple):
    """One trial: which point (from 0), which repetition or warm-up of it (from 1), and when its turn is (from 0)."""

    point_index: int
    repetition: int
    is_warmup: bool
    position: int


def schedule_trials(points: Sequence[Point], spec: SweepSpec) -> list[TrialSpec]:
    """Return the trials of points in the order to carry them out.

    A repetition is a block that visits every point once before any is visited again, so that a drift of the
    environment touches all points alike; RANDOMISED shuffles each block anew by the seed (Fisher, Yates 1938;
    blocks: Hoefler, Belli, SC'15). The warm-ups of a point come right before its first repetition. SweepError if
    repetitions, warm-ups, order or seed are out of range.
    """
    errors = check_schedule(spec)
    if errors:
        raise SweepError(errors)
    generator = random.Random(spec.seed)  # noqa: S311 - an order to repeat, not a secret
    turns: list[tuple[int, int, bool]] = []
    for repetition in range(1, spec.repetitions + 1):
        block = list(range(len(points)))
        if spec.order == RANDOMISED:
            _shuffle(block, generator)
        for point_index in block:
            if repetition == 1:
                turns += [(point_index, warmup, True) for warmup in range(1, spec.warmups + 1)]
            turns.append((point_index, repetition, False))
    return [TrialSpec(*turn, position) for position, turn in enumerate(turns)]


def _shuffle(items: list[_Item], generator: random.Random) -> None:
    """Shuffle in place by `random()` alone: its sequence is the one that Python promises never to change."""
    for last in range(len(items) - 1, 0, -1):
        other = int(generator.random() * (last + 1))
        items[last], items[other] = items[other], items[last]
