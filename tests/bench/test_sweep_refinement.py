"""Where a search measures next, on curves whose knee or optimum is known."""

import math

import pytest

from apps.bench.sweep.refinement import KNEE, MAXIMUM, MINIMUM, MeasuredValue, next_values


def search(curve, xs, goal, budget, to_value=round, limit=math.inf, error=0.0):
    """Return all values measured, those of the coarse grid first."""
    points = [MeasuredValue(x, curve(x), error) for x in xs]
    while budget:
        values = next_values(points, goal, budget, to_value, limit)
        if not values:
            break
        budget -= len(values)
        points += [MeasuredValue(x, curve(x), error) for x in values]
    return [point.x for point in points]


def test_a_knee_is_closed_in_on():
    found = search(lambda n: min(8.2 * n, 410), [1, 4, 16, 64, 256], KNEE, 10)
    added = sorted(found[5:])
    assert all(16 < x <= 64 for x in added)
    low = max(x for x in found if x <= 50)
    high = min(x for x in found if x > 50)
    assert high / low <= 1.15
    assert len(added) <= 5


def test_a_knee_beyond_the_grid_is_followed_outwards():
    found = search(lambda n: min(8.2 * n, 410), [1, 2, 4], KNEE, 12)
    assert max(found) >= 64
    assert max(x for x in found if x <= 50) >= 40


def test_the_limit_of_the_factor_ends_the_way_outwards():
    assert max(search(lambda n: 8.2 * n, [1, 2, 4], KNEE, 12, limit=100)) == 100


def test_the_budget_ends_it():
    assert len(search(lambda n: min(8.2 * n, 410), [1, 4, 16, 64, 256], KNEE, 2)) == 7


@pytest.mark.parametrize(
    ("goal", "curve"),
    [(MAXIMUM, lambda x: 1 / (1 + math.log(x / 37) ** 2)), (MINIMUM, lambda x: math.log(x / 37) ** 2)],
)
def test_an_optimum_is_closed_in_on(goal, curve):
    found = search(curve, [1, 4, 16, 64, 256], goal, 12)
    best = min(found, key=lambda x: abs(math.log(x / 37)))
    assert best == pytest.approx(37, rel=0.1)
    assert len(found) <= 17


def test_values_that_cannot_be_told_apart_are_all_looked_around():
    points = [MeasuredValue(1, 5, 1), MeasuredValue(4, 10, 1), MeasuredValue(16, 10.5, 1), MeasuredValue(64, 5, 1)]
    assert sorted(next_values(points, MAXIMUM, 9, round)) == [2, 8, 32]


def test_a_value_the_factor_cannot_take_again_is_not_asked_for():
    points = [MeasuredValue(1, 1), MeasuredValue(2, 2), MeasuredValue(3, 2)]
    assert next_values(points, KNEE, 9, round) == []


def test_rounding_is_the_factors_own():
    points = [MeasuredValue(65536, 1), MeasuredValue(262144, 4), MeasuredValue(1048576, 6), MeasuredValue(4194304, 6)]
    values = next_values(points, KNEE, 9, lambda x: round(x / 65536) * 65536)
    assert values
    assert all(value % 65536 == 0 for value in values)


@pytest.mark.parametrize(
    "points",
    [[], [MeasuredValue(1, 1), MeasuredValue(2, 2)], [MeasuredValue(1, 0), MeasuredValue(2, 0), MeasuredValue(3, 0)]],
)
def test_too_little_gives_nothing_to_measure(points):
    assert next_values(points, KNEE, 9, round) == []


def test_an_unknown_goal_is_a_mistake():
    with pytest.raises(ValueError, match="sideways"):
        next_values([], "sideways", 1, round)
