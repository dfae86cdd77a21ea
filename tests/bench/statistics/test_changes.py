"""Changes of level in series with a known truth: found, and not feigned."""

import itertools
import random

import pytest

from apps.bench.statistics import find_changes
from tests.rotation import part_of


def test_a_change_is_placed_and_sized():
    chance = random.Random(1)
    values = [chance.gauss(980 if day < 20 else 880, 15) for day in range(40)]
    (change,) = find_changes(values)
    assert abs(change.place - 20) <= 1
    assert change.ratio == pytest.approx(880 / 980, rel=0.02)
    assert change.p < 1e-6


def test_several_changes_are_told_apart():
    chance = random.Random(3)
    values = [chance.gauss(level, 8) for level in (1000, 800, 950) for _day in range(15)]
    assert [round(change.place / 15) for change in find_changes(values)] == [1, 2]


@pytest.mark.parametrize("lengths", [(11, 8, 7), (20, 5, 20), (6, 30, 6), (10, 10, 10)])
def test_a_level_that_comes_back_hides_neither_of_its_changes(lengths):
    chance = random.Random(5)
    first, second, _third = lengths
    hits = 0
    for _round in range(40):
        values = [
            chance.gauss(level, 12) for level, n in zip((940, 720, 960), lengths, strict=True) for _day in range(n)
        ]
        hits += [change.place for change in find_changes(values)] == [first, first + second]
    assert hits >= 38


@pytest.mark.parametrize("spread", [0.01, 0.02, 0.03, 0.04])
def test_changes_of_a_tenth_are_found(spread):
    chance = random.Random(7)
    hits = 0
    for _round in range(150):
        place = chance.randint(7, 53)
        values = [chance.gauss(100 if day < place else 90, 100 * spread) for day in range(60)]
        hits += any(abs(change.place - place) <= 3 for change in find_changes(values))
    assert hits / 150 >= 0.95


def test_a_hundred_months_without_change_raise_one_alarm_at_most():
    chance = random.Random(9)
    alarms = 0
    for _month in range(1000):
        spread = chance.uniform(0.5, 5)
        alarms += bool(find_changes([chance.gauss(100, spread) for _day in range(30)]))
    assert alarms <= 10


def test_a_few_far_values_are_no_change():
    chance = random.Random(4)
    alarms = 0
    for _month in range(500):
        values = [chance.gauss(100, 3) * (0.5 if chance.random() < 0.05 else 1) for _day in range(30)]
        alarms += bool(find_changes(values))
    assert alarms <= 5


@pytest.mark.parametrize("values", [[], [1.0], [1, 1, 1, 9, 9, 9], [5.0] * 50])
def test_short_and_equal_series_have_none(values):
    assert find_changes(values) == ()


def test_a_clean_step_needs_no_spread():
    (change,) = find_changes([1.0] * 6 + [2.0] * 6)
    assert (change.place, change.before, change.after, change.ratio, change.p) == (6, 1.0, 2.0, 2.0, 0.0)


def test_neighbours_that_are_alike_make_no_changes():
    chance = random.Random(8)
    alarms = 0
    for _round in range(40):
        values, state = [], 0.0
        for _day in range(300):
            state = 0.5 * state + chance.gauss(0, 0.026)
            values.append(940 * (1 + state))
        alarms += bool(find_changes(values))
    # Without allowing for it it was near a half of them.
    assert alarms <= 5


def test_outliers_of_a_long_series_make_no_changes():
    chance = random.Random(9)
    alarms = sum(
        bool(find_changes([chance.gauss(940, 28) * (0.5 if chance.random() < 0.05 else 1) for _day in range(300)]))
        for _round in range(40)
    )
    assert alarms <= 5


@pytest.mark.parametrize("days", [20, 30, 60])
def test_figures_with_two_modes_make_no_changes(days):
    chance = random.Random(days)
    alarms = sum(
        bool(find_changes([chance.choice((950, 1050)) + chance.gauss(0, 5) for _day in range(days)]))
        for _round in range(200)
    )
    # Each jump taken for an outlier they were a fifth of them.
    assert alarms <= 12


def test_a_change_of_three_deviations_is_seen_in_twenty_days():
    chance = random.Random(6)
    hits = 0
    for _round in range(300):
        values = [chance.gauss(940 if day < 10 else 940 - 3 * 28, 28) for day in range(20)]
        hits += any(abs(change.place - 10) <= 2 for change in find_changes(values))
    assert hits / 300 >= 0.88


def test_neighbours_that_are_alike_make_no_changes_in_twenty_days_either():
    chance = random.Random(10)
    alarms = 0
    for _round in range(600):
        values, state = [], chance.gauss(0, 0.03)
        for _day in range(20):
            values.append(940 * (1 + state))
            state = 0.5 * state + chance.gauss(0, 0.026)
        alarms += bool(find_changes(values))
    # 5 % of 600 is 30, with a deviation of 5.
    assert alarms <= 40


DAYS = [(20, 0.5), (40, 0.5), (52, 0.5), (20, 0.75), (40, 0.75), (40, 0.25)]


@pytest.mark.parametrize(("times", "some"), part_of(itertools.product((2, 3, 5, 10), DAYS), parts=5))
def test_a_change_of_scatter_is_none_of_level(times, some):
    days, share = some
    chance = random.Random(f"{times} {days} {share}")
    alarms = 0
    for _round in range(100):
        values = [chance.gauss(500, 5 if day < share * days else 5 * times) for day in range(days)]
        alarms += bool(find_changes(values))
        alarms += bool(find_changes(values[::-1]))
    # 5 % of 200 is 10. With outliers by the scatter of the whole, and one scatter for both sides, up to 42 %.
    assert alarms <= 10


def test_a_change_of_level_is_seen_though_the_scatter_changes():
    chance = random.Random(11)
    hits = 0
    for _round in range(100):
        values = [chance.gauss(500 if day < 10 else 410, 15 if day < 10 else 30) for day in range(20)]
        hits += any(abs(change.place - 10) <= 2 for change in find_changes(values))
    assert hits >= 85
