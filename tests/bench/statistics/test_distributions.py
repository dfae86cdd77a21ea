"""Tails of distributions, against SciPy's figures."""

import pytest

from apps.bench.statistics import distributions
from apps.bench.statistics.changes import sums


@pytest.mark.parametrize(
    ("value", "degrees", "tail"),
    [(3.84, 1, 0.05004352124870519), (0.5, 2, 0.7788007830714049), (30.0, 10, 0.000856641210775301), (0.0, 3, 1.0)],
)
def test_chi_square(value, degrees, tail):
    assert distributions.chi_square_tail(value, degrees) == pytest.approx(tail, rel=1e-10)


@pytest.mark.parametrize(
    ("value", "above", "below", "tail"),
    [
        (3.5, 2, 10, 0.07042962777237427),
        (0.4, 5, 3, 0.82607234206349),
        (12.0, 1, 30, 0.0016242438023012238),
        (0, 1, 1, 1),
    ],
)
def test_fishers_f(value, above, below, tail):
    assert distributions.f_tail(value, above, below) == pytest.approx(tail, rel=1e-10)


def test_students_t_on_both_sides():
    assert distributions.student_t_tail(2.5, 7) == pytest.approx(0.020496109292876444, rel=1e-10)
    assert distributions.student_t_tail(-1.0, 4) == pytest.approx(0.8130495168499705, rel=1e-10)


def test_the_normal_tail_is_right_far_out():
    assert distributions.normal_tail(6) == pytest.approx(9.865876450376946e-10, rel=1e-9)
    assert distributions.normal_tail(0) == 0.5


@pytest.mark.parametrize("degrees", [1, 2.5, 6, 18, 60, 400])
def test_the_bound_of_a_tail_is_never_above_it_and_near_where_changes_are_decided(degrees):
    for step in range(400):
        t = step / 8
        tail, bound = distributions.student_t_tail(t, degrees), distributions.least_student_t_tail(t, degrees)
        assert bound <= tail * (1 + 1e-9)
        assert degrees < 6 or not 2 < t < 12 or bound >= 0.5 * tail


@pytest.mark.parametrize("most", [1.0, 0.05, 0.0015])
def test_the_chance_of_a_split_is_exact_up_to_the_most_that_is_asked_for(most):
    for distance in range(60):
        exact = sums.chance_of(distance / 4, 30.0, 6, 9, 20)
        assert sums.chance_of(distance / 4, 30.0, 6, 9, 20, most) == (exact if exact <= most else 1.0)
