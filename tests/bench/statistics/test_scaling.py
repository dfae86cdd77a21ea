"""Laws of scaling, on rates made by one of them."""

import random

import pytest

from apps.bench.statistics import fit_scaling

NS = [1, 2, 4, 8, 16, 32, 64]


def rates(a, s, k, noise=0.0, seed=1):
    chance = random.Random(seed)
    return [a * n / (1 + s * (n - 1) + k * n * (n - 1)) * chance.gauss(1, noise) for n in NS]


@pytest.mark.parametrize(("s", "k", "law"), [(0, 0, "linear"), (0.1, 0, "amdahl"), (0.05, 0.003, "usl")])
def test_a_law_gives_its_own_figures_back(s, k, law):
    best = fit_scaling(NS, rates(100, s, k))[0]
    assert best.law == law
    assert (best.a, best.s, best.k) == (pytest.approx(100), pytest.approx(s, abs=1e-9), pytest.approx(k, abs=1e-9))
    assert best.error < 1e-9


@pytest.mark.parametrize(("s", "k", "law"), [(0, 0, "linear"), (0.1, 0, "amdahl"), (0.05, 0.003, "usl")])
def test_noise_seldom_changes_the_law(s, k, law):
    fits = [fit_scaling(NS, rates(100, s, k, 0.03, seed))[0] for seed in range(100)]
    assert sum(best.law == law for best in fits) >= 90
    assert all(best.error < 0.06 for best in fits)


def test_the_peak_and_the_ceiling():
    best = fit_scaling(NS, rates(100, 0.05, 0.003))[0]
    assert best.peak == pytest.approx((0.95 / 0.003) ** 0.5)
    assert best.ceiling == pytest.approx(best.at(best.peak))
    assert fit_scaling(NS, rates(100, 0.1, 0))[0].ceiling == pytest.approx(1000)
    linear = fit_scaling(NS, rates(100, 0, 0))[0]
    assert (linear.peak, linear.ceiling) == (None, None)


def test_too_few_counts_fit_nothing():
    assert fit_scaling([1, 2], [1, 2]) == ()
    assert fit_scaling([2, 2, 2], [1, 1, 1]) == ()


@pytest.mark.parametrize(
    ("ns", "xs"), [([0, 1, 2], [1, 1, 1]), ([1, 2, 3], [1, 0, 1]), ([1, 2, 3], [1, float("nan"), 1])]
)
def test_what_is_no_rate_is_refused(ns, xs):
    with pytest.raises(ValueError, match="law of scaling"):
        fit_scaling(ns, xs)
