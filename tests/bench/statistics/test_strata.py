"""Two sets compared setting by setting, with one answer over all settings."""

import random

import pytest

from apps.bench import statistics
from apps.bench.statistics.differences import p_of_two

LEVELS = (10, 100, 1000, 10000)


def strata(factor: float, seed: int, repetitions: int = 3) -> list[tuple[list[float], list[float]]]:
    source = random.Random(seed)
    return [
        (
            [source.gauss(level, 0.02 * level) for _ in range(repetitions)],
            [source.gauss(factor * level, 0.02 * level) for _ in range(repetitions)],
        )
        for level in LEVELS
    ]


def test_what_three_repetitions_cannot_show_all_settings_together_do() -> None:
    pairs = strata(1.1, 1)
    assert min(p_of_two(a, b) for a, b in pairs) > 0.05
    overall = statistics.compare_strata(pairs)
    assert overall
    assert overall.p < 0.001
    assert overall.superiority > 0.9
    assert overall.strata == 4


def test_equals_differ_no_more_often_than_stated() -> None:
    ps = [statistics.compare_strata(strata(1.0, seed)).p for seed in range(200)]
    assert sum(p < 0.05 for p in ps) <= 20


def test_levels_of_settings_do_not_hide_a_difference() -> None:
    pairs = strata(1.1, 2)
    pooled = statistics.compare_two([v for a, _b in pairs for v in a], [v for _a, b in pairs for v in b])
    assert pooled.p > 0.3
    assert statistics.compare_strata(pairs).p < 0.001


def test_settings_without_a_partner_are_left_out() -> None:
    assert statistics.compare_strata([([1.0], [])]) is None
    assert statistics.compare_strata([([1.0, 2.0], [3.0, 4.0]), ([5.0], [])]).strata == 1


def test_constant_values_show_nothing() -> None:
    overall = statistics.compare_strata([([5.0, 5.0], [5.0, 5.0])])
    assert (overall.p, overall.superiority) == (1.0, 0.5)


def test_a_box_shows_what_lies_beyond_its_whiskers() -> None:
    box = statistics.box_of([10, 11, 12, 13, 14, 15, 60])
    assert (box.q1, box.median, box.q3) == (11.5, 13, 14.5)
    assert (box.whisker_low, box.whisker_high) == (10, 15)
    assert box.outliers == (60,)


@pytest.mark.parametrize("values", [[5.0], [5.0, 5.0], [1.0, 2.0]])
def test_a_box_of_few_values_has_its_ends_in_order(values: list[float]) -> None:
    box = statistics.box_of(values)
    assert box.whisker_low <= box.q1 <= box.median <= box.q3 <= box.whisker_high
    assert box.outliers == ()
