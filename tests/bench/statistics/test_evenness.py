"""What an interval promises it holds: modes and a lean show in all places together, and switch Student's t off."""

import itertools
import math
import random
from collections.abc import Callable

import pytest

from apps.bench.comparison import Statistic, centre_of
from apps.bench.statistics import Evenness, Method, assumes_of, evenness_of, mean_interval

Draw = Callable[[random.Random], float]
PLACES, ROUNDS = 8, 120


def normal(source: random.Random) -> float:
    return source.gauss(100, 5)


def uniform(source: random.Random) -> float:
    return source.uniform(90, 110)


def rare_mode(source: random.Random) -> float:
    return source.gauss(13, 0.4) if source.random() < 0.2 else source.gauss(80, 2)


def even_modes(source: random.Random) -> float:
    return source.choice((95.0, 105.0)) + source.gauss(0, 0.5)


def skewed(source: random.Random) -> float:
    return math.exp(source.gauss(0, 1))


def tables(draw: Draw, n: int) -> list[list[list[float]]]:
    """Return tables of places with n figures each."""
    source = random.Random(n)
    return [[[draw(source) for _n in range(n)] for _place in range(PLACES)] for _round in range(ROUNDS)]


@pytest.mark.parametrize("draw", [normal, uniform])
@pytest.mark.parametrize("n", [3, 5, 8])
def test_an_even_scatter_keeps_its_interval(draw: Draw, n: int) -> None:
    assert sum(evenness_of(table) is Evenness.EVEN for table in tables(draw, n)) >= 0.96 * ROUNDS


@pytest.mark.parametrize(
    ("draw", "n", "truth", "before"),
    [
        (rare_mode, 3, 66.6, 0.6),
        (rare_mode, 5, 66.6, 0.75),
        (even_modes, 3, 100, 0.82),
        (skewed, 5, math.exp(0.5), 0.91),
    ],
)
def test_what_few_figures_do_not_hold_is_hardly_ever_promised(
    draw: Draw, n: int, truth: float, before: float
) -> None:
    promised = held = kept = 0
    for table in tables(draw, n):
        evenness = evenness_of(table)
        for place in table:
            alone, together = mean_interval(place)[1], mean_interval(place, evenness=evenness)[1]
            assert alone is not None
            assert together is not None
            promised += 1
            held += alone.low <= truth <= alone.high
            kept += together.confidence is not None
    # Each place by itself said 95 %.
    assert held / promised <= before
    assert kept / promised <= (0.35 if draw is skewed else 0.10)


def test_few_of_two_modes_span_what_was_measured_and_many_have_the_bootstrap() -> None:
    few = mean_interval([100.0, 900.0, 890.0], evenness=Evenness.MODES)[1]
    assert few is not None
    assert (few.low, few.high, few.confidence, few.method) == (100.0, 900.0, None, Method.RANGE)
    source = random.Random(1)
    many = mean_interval([rare_mode(source) for _n in range(30)], evenness=Evenness.MODES)[1]
    assert many is not None
    assert (many.method, many.confidence) == (Method.BOOTSTRAP, 0.95)


def test_every_interval_says_what_it_supposes() -> None:
    for method in Method:
        assert (assumes_of(method) == "even-scatter") == (method is Method.STUDENT)
    found = centre_of([99.0, 101.0, 100.5], Statistic.MEAN).interval
    assert found is not None
    assert "if the scatter is even" in str(found.message)
    leaning = centre_of([99.0, 101.0, 100.5], Statistic.MEAN, evenness=Evenness.LEANING).interval
    assert leaning is not None
    assert leaning.confidence is None
    assert "lean to one side" in str(leaning.message)


def test_nothing_repeated_or_nothing_that_differs_shows_nothing() -> None:
    for groups in (
        [],
        [[1.0]],
        [[5.0, 5.0], [5.0, 5.0]],
        [[0.0, 1.0], [0.0, 0.0]],
        list(itertools.repeat([1.0], 20)),
    ):
        assert evenness_of(groups) is Evenness.EVEN
