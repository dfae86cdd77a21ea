"""Figures against their baseline: what is called a difference, and how seldom it is one by chance."""

import random

import pytest

from apps.bench.comparison import ContrastVerdict, compare_with_memory, contrast, joint

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


def test_three_against_three_tell_what_lies_far_apart() -> None:
    (found,) = contrast([(LOW[:3], HIGH[:3])])
    assert found.verdict is ContrastVerdict.HIGHER


def test_figures_without_scatter_tell_nothing_of_it() -> None:
    for few in ([5.0], [5.0] * 3, [5.0] * 5):
        (row,) = contrast([(few, [2 * value for value in few])])
        assert row.verdict is ContrastVerdict.TOO_FEW
    (row,) = contrast([([5.0] * 8, [10.0] * 8)])
    assert row.verdict is ContrastVerdict.HIGHER


def test_what_one_place_shows_many_places_do_not() -> None:
    near = [value + 3.5 for value in LOW]
    assert {row.verdict for row in contrast([(LOW, near)] * 2)} == {ContrastVerdict.HIGHER}
    assert {row.verdict for row in contrast([(LOW, near)] * 40)} == {ContrastVerdict.NO_DIFFERENCE}
    # Ranks of three against eight of two modes can reach p = 0.012, which stands four corrections and not five.
    modes = ([1.0, 1.1, 1.2], [10.0, 10.1, 10.2, 10.3, 80.0, 80.1, 80.2, 80.3])
    assert {row.verdict for row in contrast([modes] * 4)} == {ContrastVerdict.HIGHER}
    assert {row.verdict for row in contrast([modes] * 5)} == {ContrastVerdict.TOO_FEW}


def test_places_that_could_tell_nothing_do_not_weaken_the_others() -> None:
    rows = contrast([(LOW, HIGH)] + [(LOW[:1], HIGH[:1])] * 200)
    assert rows[0].verdict is ContrastVerdict.HIGHER
    assert rows[0].p == contrast([(LOW, HIGH)])[0].p
    assert {item.verdict for item in rows[1:]} == {ContrastVerdict.TOO_FEW}


KINDS = {
    "even": lambda source: source.gauss(1, 0.02),
    "leaning": lambda source: source.lognormvariate(0, 0.3),
    "two modes": lambda source: source.gauss(source.choice((1.0, 2.0)), 0.01),
    "rounded": lambda source: round(source.gauss(1, 0.01), 2),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("times", [0.5, 0.97, 1.0, 1.05, 3.0])
def test_a_verdict_is_what_its_own_interval_says(kind: str, times: float) -> None:
    source = random.Random(f"{kind} {times}")
    for _ in range(150):
        base, figures = ([KINDS[kind](source) for _n in range(source.randint(1, 9))] for _side in range(2))
        (row,) = contrast([(base, [times * value for value in figures])])
        difference, is_apart = row.difference, row.verdict in (ContrastVerdict.HIGHER, ContrastVerdict.LOWER)
        if difference.confidence is None:
            assert row.verdict is ContrastVerdict.TOO_FEW
        elif difference.ratio_low <= 1 <= difference.ratio_high:
            assert not is_apart and row.p >= 1 - difference.confidence
        elif difference.confidence >= 0.95:
            assert is_apart, (base, figures, difference)
            assert (row.verdict is ContrastVerdict.LOWER) == (difference.ratio < 1)
        if row.verdict is ContrastVerdict.TOO_FEW:
            assert difference.confidence is None or difference.confidence < 0.95


@pytest.mark.parametrize("count", [2, 3, 5, 10])
def test_equals_of_few_figures_are_called_different_no_more_often_than_stated(count: int) -> None:
    source = random.Random(count)
    wrong = 0
    for _ in range(1000):
        base, figures = ([source.gauss(1, 0.05) for _n in range(count)] for _side in range(2))
        wrong += contrast([(base, figures)])[0].verdict in (ContrastVerdict.HIGHER, ContrastVerdict.LOWER)
    assert wrong <= 60


def test_all_settings_together_are_what_each_of_them_is() -> None:
    base, same, high, low = LOW, [10.1, 11, 12, 13, 13.9], HIGH, [1.0, 1.1, 1.2, 1.3, 1.4]
    assert joint([(base, high)] * 3).verdict is ContrastVerdict.HIGHER
    assert joint([(base, low)] * 3).verdict is ContrastVerdict.LOWER
    mixed = joint([(base, low), (base, same), (base, low), (base, same)])
    assert (mixed.verdict, mixed.count(ContrastVerdict.LOWER)) == (ContrastVerdict.MIXED, 2)
    # By their ranks alone all four together are lower.
    assert mixed.together.p < 0.05
    assert joint([(base, same)] * 2).verdict is ContrastVerdict.NO_DIFFERENCE
    # What no single one shows all together may.
    single = joint([([10.0 + place], [11.0 + place]) for place in range(12)])
    assert (single.verdict, single.is_of_each) == (ContrastVerdict.HIGHER, False)
    assert joint([([1.0], [2.0])]).verdict is ContrastVerdict.TOO_FEW
    assert joint([([], [1.0])]) is None


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


def test_a_pair_that_is_asked_for_again_is_not_computed_again() -> None:
    compare = compare_with_memory()
    (single,) = contrast([(LOW, HIGH)], compare)
    assert compare((*LOW,), (*HIGH,)) is single.difference
    assert compare(HIGH, LOW) is not single.difference
    assert contrast([(LOW, HIGH)]) == [single]
