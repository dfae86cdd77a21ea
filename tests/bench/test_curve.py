"""What figures of a curve bear out: forms of curves whose form is known, and how often a test errs."""

import itertools
import random

import pytest

from apps.bench.curve import ALPHA, CurveForm, ProofTest, read_curve, read_places
from apps.bench.curve.order import chance_of_order

XS = [1, 2, 4, 8, 16, 32, 50]
STICK = [min(60 * x, 500) for x in XS]
SMOOTH = [500 * x / (x + 4) for x in XS]


def measured(truth, n, cv, chance):
    return [[value * chance.gauss(1, cv) for _turn in range(n)] for value in truth]


@pytest.fixture
def chance():
    return random.Random(13)


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize(
    ("truth", "form"),
    [
        ([400] * 7, CurveForm.FLAT),
        (STICK, CurveForm.LEVELS_OFF),
        ([60 * x for x in XS], CurveForm.GROWS),
        ([900 / x for x in XS], CurveForm.FALLS),
        ([100, 200, 300, 400, 480, 300, 200], CurveForm.BEST),
    ],
)
def test_forms_are_told_from_repeated_figures(truth, form, n, chance):
    reading = read_curve(XS, measured(truth, n, 0.01, chance))
    assert reading.form is form
    assert reading.proof.n == n
    assert reading.proof.p <= 0.05


def test_a_stick_has_its_knee_and_a_smooth_curve_none(chance):
    stick = read_curve(XS, measured(STICK, 10, 0.005, chance))
    assert stick.plateau == pytest.approx(498, rel=0.01)
    assert (XS[stick.start], stick.knee) == (8, pytest.approx(8.3, rel=0.03))
    smooth = read_curve(XS, measured(SMOOTH, 10, 0.005, chance))
    # It gains with each step: that its last places lie near each other makes no plateau of them.
    assert (smooth.form, smooth.knee) == (CurveForm.GROWS, None)


def test_the_table_that_was_called_a_plateau_is_none():
    # "Levels off at 423 Mbit/s: from 50 on within 5 %" was said of this.
    ys = [508, 356, 354, 501, 497, 409]
    reading = read_curve([1, 10, 30, 50, 70, 100], [[y] for y in ys])
    assert reading.form is CurveForm.UNTOLD
    assert str(reading.proof.message) == "n = 1: not enough to tell"
    repeated = read_curve([1, 10, 30, 50, 70, 100], [[y, y * 1.01, y * 0.99] for y in ys])
    assert repeated.form is CurveForm.BEST
    assert repeated.rivals == (3, 4)


def test_what_is_shown_must_bear_it_out_too(chance):
    groups = measured(STICK, 10, 0.005, chance)
    shown = [sum(group) / len(group) for group in groups]
    assert read_curve(XS, groups, centres=shown).form is CurveForm.LEVELS_OFF
    shown[-1] *= 0.9
    assert read_curve(XS, groups, centres=shown).form is not CurveForm.LEVELS_OFF


@pytest.mark.parametrize("n", [1, 2, 3, 10])
@pytest.mark.parametrize("cv", [0.03, 0.2])
def test_equal_places_are_said_to_differ_no_more_often_than_the_tests_allow(n, cv, chance):
    said = [read_curve(XS, measured([400] * 7, n, cv, chance)) for _turn in range(300)]
    differ = sum(reading.form not in (CurveForm.FLAT, CurveForm.UNTOLD) for reading in said)
    # Each of two tests may err in one of a hundred; of 300 curves 15 are beyond chance.
    assert differ < 15


@pytest.mark.parametrize("cv", [0.03, 0.1])
def test_a_plateau_is_never_told_of_what_still_grows(cv, chance):
    truth = [100, 200, 300, 400, 500, 570, 650]
    said = [read_curve(XS, measured(truth, 5, cv, chance)).form for _turn in range(200)]
    assert said.count(CurveForm.LEVELS_OFF) <= 4


def test_a_noisy_place_among_quiet_ones_is_not_the_best(chance):
    said = 0
    for _turn in range(200):
        groups = measured([400] * 6, 5, 0.002, chance) + measured([400], 5, 0.2, chance)
        said += read_places(groups).form is CurveForm.BEST
    assert said <= 8


def test_less_is_better_of_times():
    groups = [[9.0, 9.1, 9.2], [3.0, 3.1, 3.0], [5.0, 5.1, 5.0]]
    reading = read_places(groups, higher_is_better=False)
    assert (reading.form, reading.best, reading.worst, reading.rivals) == (CurveForm.BEST, 1, 0, ())
    assert read_curve([1, 2, 3], groups, higher_is_better=False).form is CurveForm.BEST


def test_single_figures_of_six_places_in_order_grow_by_kendall():
    reading = read_curve([1, 2, 4, 8, 16, 32], [[1], [2], [3], [4], [5], [6]])
    assert (reading.form, reading.proof.test) == (CurveForm.GROWS, ProofTest.KENDALL)
    assert str(reading.proof.message) == "Kendall's test of the order, n = 1, p = 0.0028"
    five = read_curve([1, 2, 4, 8, 16], [[1], [2], [3], [4], [5]])
    assert five.form is CurveForm.UNTOLD
    assert five.proof.p is None


@pytest.mark.parametrize("value", [0.0, 3e-5, 7e8])
@pytest.mark.parametrize("n", [2, 3, 10])
def test_equal_figures_are_not_tested(value, n):
    for reading in (read_curve([1, 2, 4], [[value] * n] * 3), read_places([[value] * n] * 3)):
        assert (reading.form, reading.proof.test, reading.proof.p) == (CurveForm.FLAT, ProofTest.EQUAL, None)
        assert str(reading.proof.message) == f"n = {n}, the same in every run: nothing to test"


def test_no_t_test_rests_on_a_lone_figure(chance):
    told = 0
    for _turn in range(400):
        truth = chance.choice([STICK, SMOOTH, [400] * 7, [100, 200, 300, 400, 500, 600, 700]])
        groups = [group[: chance.choice([1, 2, 3, 3, 5])] for group in measured(truth, 5, 0.02, chance)]
        for reading in (read_curve(XS, groups), read_places(groups), read_curve(XS, groups, higher_is_better=None)):
            if reading.proof.test in (ProofTest.STUDENT, ProofTest.EQUIVALENCE):
                told += 1
                assert reading.proof.n >= 2, str(reading.proof.message)
    assert told > 50


@pytest.mark.parametrize("values", [[1, 2, 3, 4, 5], [5, 1, 4, 2, 3, 6, 7], [3, 2, 1], [2, 1, 4, 3, 6, 5]])
def test_kendalls_test_counts_all_orders(values):
    def score(order):
        return abs(sum((b > a) - (b < a) for a, b in itertools.combinations(order, 2)))

    orders = list(itertools.permutations(values))
    expected = sum(score(order) >= score(values) for order in orders) / len(orders)
    assert chance_of_order(values) == pytest.approx(min(1.0, expected))


def test_zeros_and_one_place_are_read_too():
    lost = read_curve([1, 2, 3], [[0.0, 0.0, 0.0], [0.0, 0.001, 0.0], [0.2, 0.21, 0.2]], higher_is_better=False)
    assert lost.form is CurveForm.GROWS
    assert read_places([[0.0, 0.0], [0.0, 0.0]]).form is CurveForm.FLAT
    assert read_places([[5.0, 6.0]]).form is CurveForm.UNTOLD


@pytest.mark.parametrize(
    ("xs", "groups"),
    [([2, 1], [[1], [1]]), ([1, 2], [[1]]), ([1], [[]]), ([], []), ([1, 2], [[1], [float("nan")]])],
)
def test_what_is_no_curve_is_refused(xs, groups):
    with pytest.raises(ValueError, match="a curve needs"):
        read_curve(xs, groups)


def test_each_test_says_what_it_is(chance):
    assert str(read_curve(XS, measured([400] * 7, 10, 0.01, chance)).proof.message).startswith("equivalence test")
    grown = read_curve(XS, measured([60 * x for x in XS], 3, 0.01, chance)).proof
    assert str(grown.message) == "t test, n = 3, p < 0.001"
    assert grown.p < ALPHA
