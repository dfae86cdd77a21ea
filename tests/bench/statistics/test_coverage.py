"""Of the intervals that are called 95 %, as many hold, whichever way the figures of one place lean."""

import math
import random
from collections.abc import Callable

import pytest

from apps.bench.statistics import CONFIDENCE, Mean, mean_interval

Draw = Callable[[random.Random], float]
# So far below what is printed an interval may hold, and so far above; the error of so many rounds comes to it.
BELOW, ABOVE, ROUNDS = 0.02, 0.025, 2000
ERROR = 2 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / ROUNDS)


def lognormal(sigma: float) -> Draw:
    return lambda source: math.exp(sigma * source.gauss(0, 1) - sigma**2 / 2)


# Of a mean of 1, by what they are called: the noise that repetitions have, to either side.
DRAWS: dict[str, Draw] = {
    "normal, 3 %": lambda source: source.gauss(1, 0.03),
    "normal, 20 %": lambda source: source.gauss(1, 0.2),
    "uniform": lambda source: source.uniform(0.9, 1.1),
    "lognormal, 0.1": lognormal(0.1),
    "lognormal, 0.3": lognormal(0.3),
    "lognormal, 0.5": lognormal(0.5),
    "exponential": lambda source: source.expovariate(1),
    "a rate with exponential delays": lambda source: 1.05 - 0.05 * source.expovariate(1),
    "a time with exponential delays": lambda source: 0.9 + 0.1 * source.expovariate(1),
}


@pytest.mark.parametrize("n", [3, 4, 5, 6, 8, 12, 30])
@pytest.mark.parametrize("name", DRAWS)
def test_what_is_printed_holds(name: str, n: int) -> None:
    source = random.Random(f"{name} {n}")
    printed = held = 0
    for _round in range(ROUNDS):
        _mean, interval = mean_interval([DRAWS[name](source) for _turn in range(n)])
        assert interval is not None
        if interval.confidence is not None:
            assert interval.confidence == CONFIDENCE
            printed += 1
            held += interval.low <= 1 <= interval.high
    assert printed > ROUNDS / 2
    assert held / printed >= CONFIDENCE - BELOW - ERROR, (held, printed)
    if "normal, 3" in name:
        # Nor is it wider than it needs to be.
        assert held / printed <= CONFIDENCE + ABOVE, (held, printed)


@pytest.mark.parametrize("n", [3, 5, 10])
def test_a_harmonic_mean_holds_as_its_times_do(n: int) -> None:
    source = random.Random(n)
    printed = held = 0
    for _round in range(ROUNDS):
        _mean, interval = mean_interval(
            [1 / (0.9 + 0.1 * source.expovariate(1)) for _turn in range(n)], Mean.HARMONIC
        )
        # Of rates so far apart that a time may be zero there is none.
        if interval is not None:
            printed += 1
            held += interval.low <= 1 <= interval.high
    assert printed > ROUNDS / 2
    assert held / printed >= CONFIDENCE - BELOW - ERROR, (held, printed)


def test_figures_that_lean_have_an_interval_that_leans_the_other_way() -> None:
    mean, interval = mean_interval([1.0, 1.01, 1.02, 1.03, 1.3])
    assert interval is not None
    assert interval.high - mean > 1.2 * (mean - interval.low)
