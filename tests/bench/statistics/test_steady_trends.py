"""A series that goes steadily up or down has a trend and no steps; one with a step has that step, trend or none."""

import random

import pytest

from apps.bench.statistics import find_changes, find_trend


def series(n: int, per_step: float, seed: int, step: float = 0.0) -> list[float]:
    drawn = random.Random(seed)
    return [100 + per_step * place + (step if place >= n // 2 else 0) + drawn.gauss(0, 2) for place in range(n)]


@pytest.mark.parametrize("n", [40, 52])
@pytest.mark.parametrize("per_step", [0.5, -0.6, 1.0])
def test_a_steady_trend_is_no_step(n: int, per_step: float) -> None:
    # Of twenty or thirty values a trend of as much cannot always be told from a step.
    drawn = [series(n, per_step, seed) for seed in range(40)]
    assert sum(bool(find_changes(values)) for values in drawn) <= 6
    trends = [trend for values in drawn if (trend := find_trend(values))]
    assert len(trends) >= 30
    for trend in trends:
        assert (trend.after > trend.before) == (per_step > 0)
        assert trend.after - trend.before == pytest.approx(per_step * (n - 1), abs=4)


@pytest.mark.parametrize("n", [20, 52])
@pytest.mark.parametrize("step", [6.0, -8.0])
def test_a_step_is_no_trend(n: int, step: float) -> None:
    drawn = [series(n, 0.0, seed, step) for seed in range(40)]
    assert sum(bool(find_trend(values)) for values in drawn) <= 1
    assert sum(bool(find_changes(values)) for values in drawn) >= 35


@pytest.mark.parametrize("n", [8, 20, 52])
def test_noise_has_neither(n: int) -> None:
    drawn = [series(n, 0.0, seed) for seed in range(60)]
    assert sum(bool(find_trend(values) or find_changes(values)) for values in drawn) <= 2
    assert find_trend([]) is None
    assert find_trend([5.0] * 20) is None
