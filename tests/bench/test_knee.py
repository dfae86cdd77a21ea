"""The saturation knee, on curves whose knee is known."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.bench.knee import find_knee


def stick(xs, slope, plateau):
    return [min(slope * x, plateau) for x in xs]


@pytest.mark.parametrize("at", [1.5, 7, 50, 99])
def test_a_broken_stick_gives_its_own_knee(at):
    xs = [1, 2, 4, 8, 16, 32, 64, 128]
    knee = find_knee(xs, stick(xs, 9.0, 9.0 * at))
    assert knee.at == pytest.approx(at)
    assert (knee.slope, knee.plateau) == (pytest.approx(9.0), pytest.approx(9.0 * at))
    assert knee.residual == pytest.approx(0, abs=1e-9)
    assert knee.is_clear


def test_the_streams_of_the_caltech_path_bend_where_capacity_over_rate_says():
    # Kyungpook-Caltech with a per-flow window limit, Mbit/s (a recorded sweep): 408 / 8.2 is 50.
    streams = [1, 10, 20, 30, 40, 60, 70, 80, 100]
    rates = [8.2, 82, 163, 242, 295, 408, 424, 415, 426]
    knee = find_knee(streams, rates)
    assert 45 < knee.at < 56
    assert knee.smallest == 60
    assert knee.is_clear


def test_noise_moves_it_little():
    chance = random.Random(3)
    xs = [2**power for power in range(4, 13)]
    for _round in range(50):
        ys = [y * chance.gauss(1, 0.03) for y in stick(xs, 2.0, 600)]
        knee = find_knee(xs, ys)
        assert 300 * 0.85 < knee.at < 300 * 1.15
        assert knee.residual < 0.1


def test_a_curve_that_has_not_bent_has_its_knee_at_its_end():
    knee = find_knee([1, 2, 4, 8], [10, 20, 40, 80])
    assert knee.at == pytest.approx(8)
    assert not knee.is_reached
    assert not knee.is_clear


LADDERS = ([1, 2, 4, 8], [1, 2, 4, 8, 16], [1, 2, 3, 4, 5, 6, 7, 8], [1, 4, 8, 16, 32, 64])


@pytest.mark.parametrize("xs", LADDERS, ids=lambda xs: f"{len(xs)} to {xs[-1]}")
@pytest.mark.parametrize("noise", [0.002, 0.01, 0.03])
def test_a_noisy_line_that_is_straight_to_its_end_has_no_clear_knee(xs, noise):
    chance = random.Random(1)
    clear = sum(find_knee(xs, [26.2 * x * chance.gauss(1, noise) for x in xs]).is_clear for _line in range(300))
    assert clear <= 6


@pytest.mark.parametrize("xs", LADDERS, ids=lambda xs: f"{len(xs)} to {xs[-1]}")
@pytest.mark.parametrize("share", [0.4, 0.5, 0.6, 0.7, 0.8])
def test_a_noisy_knee_before_the_last_value_stays_clear(xs, share):
    chance = random.Random(1)
    ys = stick(xs, 26.2, 26.2 * share * xs[-1])
    clear = sum(find_knee(xs, [y * chance.gauss(1, 0.01) for y in ys]).is_clear for _curve in range(100))
    assert clear >= 98


@pytest.mark.parametrize("ys", [[100, 101, 99, 100], [100, 104, 103, 104], [5, 5, 5, 5]])
def test_a_flat_curve_has_no_knee(ys):
    assert find_knee([1, 2, 4, 8], ys) is None


@pytest.mark.parametrize("half", [1, 4, 20])
@pytest.mark.parametrize("noise", [0, 0.01])
def test_a_smooth_curve_has_no_clear_knee(half, noise):
    chance = random.Random(half)
    xs = [2**power for power in range(10)]
    for _curve in range(50):
        assert not find_knee(xs, [900 * x / (x + half) * chance.gauss(1, noise) for x in xs]).is_clear


@pytest.mark.parametrize("noise", [0, 0.01, 0.03])
def test_a_noisy_stick_keeps_its_clear_knee(noise):
    chance = random.Random(1)
    xs = [2**power for power in range(10)]
    clear = 0
    for _curve in range(200):
        at = 2 ** chance.uniform(2, 7)
        clear += find_knee(xs, [y * chance.gauss(1, noise) for y in stick(xs, 3, 3 * at)]).is_clear
    assert clear >= 195


def test_a_curve_that_falls_is_no_stick():
    assert not find_knee([1, 2, 4, 8, 16], [100, 200, 120, 40, 10]).is_clear


@pytest.mark.parametrize("points", [([], []), ([1, 2], [1, 2]), ([1, 2, 3], [0, 0, 0])])
def test_too_little_gives_no_knee(points):
    assert find_knee(*points) is None


@pytest.mark.parametrize(
    "points",
    [([0, 1, 2], [1, 1, 1]), ([1, 1, 2], [1, 1, 1]), ([1, 2, 3], [1, math.nan, 1]), ([1, 2, 3], [1, -1, 1])],
)
def test_what_is_no_curve_is_refused(points):
    with pytest.raises(ValueError, match="a knee needs"):
        find_knee(*points)


@given(
    st.lists(st.floats(1e-3, 1e9), min_size=3, max_size=12, unique=True),
    st.data(),
)
def test_any_curve_gives_finite_figures(xs, data):
    ys = data.draw(st.lists(st.floats(0, 1e12), min_size=len(xs), max_size=len(xs)))
    knee = find_knee(xs, ys)
    if knee is None:
        assert min(ys) >= 0.95 * max(ys)
    else:
        assert all(math.isfinite(value) for value in (knee.at, knee.plateau, knee.slope, knee.residual))
        assert knee.smallest in xs
        assert knee.best in xs


@pytest.mark.parametrize("spacing", ["geometric", "linear"])
def test_knees_of_random_noisy_curves_are_found_within_a_step_of_the_grid(spacing):
    chance = random.Random(spacing)
    found = 0
    for _curve in range(1000):
        count = chance.randint(7, 13)
        xs = [2.0**step if spacing == "geometric" else step + 1.0 for step in range(count)]
        at = chance.uniform(xs[1], xs[-2]) if spacing == "linear" else 2 ** chance.uniform(1, count - 2)
        noise = chance.uniform(0, 0.1)
        ys = [max(0.0, min(3 * x, 3 * at) * chance.gauss(1, noise)) for x in xs]
        step = math.log2(find_knee(xs, ys).at / at) if spacing == "geometric" else find_knee(xs, ys).at - at
        found += abs(step) <= 1
    assert found >= 950
