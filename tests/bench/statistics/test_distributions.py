"""Tails of distributions, against SciPy's figures."""

import pytest

from apps.bench.statistics import distributions


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
