"""Figures against their baseline: what is called a difference, and how seldom it is one by chance."""

import random

import pytest

from apps.bench.comparison import ContrastVerdict, contrast

LOW, HIGH = [10.0, 11, 12, 13, 14], [20.0, 21, 22, 23, 24]


def test_figures_above_their_baseline_are_higher() -> None:
    (found,) = contrast([(LOW, HIGH)])
    assert found.verdict is ContrastVerdict.HIGHER
    assert found.effect == "large"
    assert found.difference.ratio == pytest.approx(22 / 12, rel=0.01)


@pytest.mark.parametrize(
    ("pair", "higher_is_better", "expected"),
    [
        ((LOW, HIGH), True, True),
        ((LOW, HIGH), False, False),
        ((HIGH, LOW), True, False),
        ((LOW, HIGH), None, None),
        ((LOW, LOW), True, None),
    ],
)
def test_better_depends_on_the_metric(pair, higher_is_better: bool | None, expected: bool | None) -> None:
    (found,) = contrast([pair])
    assert found.is_better(higher_is_better=higher_is_better) is expected


def test_three_against_three_tell_nothing() -> None:
    (found,) = contrast([(LOW[:3], HIGH[:3])])
    assert found.verdict is ContrastVerdict.TOO_FEW


def test_what_one_place_shows_many_places_do_not() -> None:
    # Five against five can reach p = 0.008, which stands six corrections and not seven.
    assert {found.verdict for found in contrast([(LOW, HIGH)] * 6)} == {ContrastVerdict.HIGHER}
    assert {found.verdict for found in contrast([(LOW, HIGH)] * 7)} == {ContrastVerdict.TOO_FEW}


def test_places_that_could_tell_nothing_do_not_weaken_the_others() -> None:
    found = contrast([(LOW, HIGH)] + [(LOW[:2], HIGH[:2])] * 20)
    assert found[0].verdict is ContrastVerdict.HIGHER
    assert {item.verdict for item in found[1:]} == {ContrastVerdict.TOO_FEW}


def test_equals_are_called_different_no_more_often_than_stated() -> None:
    source = random.Random(11)
    wrong = 0
    for _ in range(200):
        pairs = [
            ([source.gauss(1, 0.1) for _ in range(8)], [source.gauss(1, 0.1) for _ in range(8)]) for _ in range(5)
        ]
        wrong += any(found.verdict in (ContrastVerdict.HIGHER, ContrastVerdict.LOWER) for found in contrast(pairs))
    assert wrong <= 18


def test_a_zero_has_a_difference_but_no_ratio() -> None:
    (found,) = contrast([([0.0] * 5, [3.0, 4, 5, 6, 7])])
    assert found.difference.ratio is None
    assert found.difference.shift == 5


def test_sets_that_scatter_unequally_are_called_different_no_more_often_than_stated() -> None:
    source = random.Random(12)
    wrong = 0
    for _ in range(400):
        few = [source.gauss(1, 0.1) for _ in range(4)]
        many = [source.gauss(1, 0.01) for _ in range(16)]
        (found,) = contrast([(few, many)])
        wrong += found.verdict in (ContrastVerdict.HIGHER, ContrastVerdict.LOWER)
    # By their ranks alone 15 % are.
    assert wrong <= 30


def test_what_is_called_different_has_an_interval_without_one() -> None:
    source = random.Random(13)
    for _ in range(300):
        pair = ([source.gauss(1, 0.1) for _ in range(5)], [source.gauss(1.1, 0.02) for _ in range(7)])
        (found,) = contrast([pair])
        if found.verdict in (ContrastVerdict.HIGHER, ContrastVerdict.LOWER):
            assert not found.difference.ratio_low <= 1 <= found.difference.ratio_high
