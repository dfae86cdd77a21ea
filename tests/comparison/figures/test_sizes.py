"""An axis of sizes has its ticks at powers of two and multiples of them, however far it reaches."""

import pytest

from apps.comparison.figures.program import look

KIB, MIB, GIB = 2**10, 2**20, 2**30


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 600e3, [place * 128 * KIB for place in range(5)]),
        (-50e3, 1.1 * MIB, [place * 256 * KIB for place in range(5)]),
        (3.5 * GIB, 7.9 * GIB, [place * GIB for place in range(4, 8)]),
        (0, 0, [0]),
    ],
)
def test_ticks_are_multiples_of_a_power_of_two(low: float, high: float, ticks: list[float]) -> None:
    assert look._Sizes().tick_values(low, high) == ticks


@pytest.mark.parametrize("span", [1, 86_400, 3e8, 1e10, 1e100])
def test_an_axis_of_time_has_few_ticks_however_far_it_reaches(span: float) -> None:
    assert 1 <= len(look._Moments().tick_values(0, span)) <= look.MOST_MOMENTS + 1
