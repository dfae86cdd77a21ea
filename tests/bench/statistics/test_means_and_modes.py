"""Which mean is right, what stands apart, and where there are two modes."""

import random

import pytest

from apps.bench.statistics import Mean, find_modes, find_outliers, mean_of, right_mean


def test_rates_over_equal_work_are_averaged_harmonically():
    kind, why = right_mean("B/s", equal_work=True)
    assert kind is Mean.HARMONIC
    assert "equal amount of work" in str(why)
    # 100 MB at 50 and 100 MB at 100 MB/s are 200 MB in 3 s.
    assert mean_of([50.0, 100.0], kind) == pytest.approx(200 / 3)


@pytest.mark.parametrize(("unit", "equal_work"), [("bit/s", False), ("s", True), ("count", True), ("%", False)])
def test_all_else_is_averaged_arithmetically(unit, equal_work):
    assert right_mean(unit, equal_work=equal_work)[0] is Mean.ARITHMETIC


def test_a_rate_of_zero_takes_all_time():
    assert mean_of([0.0, 100.0], Mean.HARMONIC) == 0
    with pytest.raises(ValueError, match="not negative"):
        mean_of([-1.0, 1.0], Mean.HARMONIC)


def test_an_outlier_is_named_and_stays():
    assert find_outliers([10, 11, 10, 9, 10, 11, 40]) == (6,)
    assert find_outliers([10, 11, 10, 9, 10, 11, 10]) == ()
    assert find_outliers([5, 5, 5, 5, 9]) == ()
    assert find_outliers([1, 100]) == ()


def test_the_published_write_anomaly_has_two_modes():
    modes = find_modes([13, 12.6, 80, 13.4, 79, 13.1, 82, 81])
    assert modes.lower == (0, 1, 3, 5)
    assert modes.upper == (2, 4, 6, 7)
    assert modes.lower_mean == pytest.approx(13.025)
    assert modes.upper_mean == pytest.approx(80.5)
    assert modes.explained > 0.99


@pytest.mark.parametrize("count", [8, 10, 20])
def test_two_modes_are_found_and_one_is_not_split(count):
    chance = random.Random(count)

    def two():
        return [chance.gauss(13, 1.3) if chance.random() < 0.5 else chance.gauss(80, 4) for _v in range(count)]

    found = sum(find_modes(two()) is not None for _round in range(500)) / 500
    feigned = sum(find_modes([chance.gauss(100, 15) for _v in range(count)]) is not None for _r in range(2000)) / 2000
    assert found >= 0.9
    assert feigned <= 0.01


@pytest.mark.parametrize("values", [[1.0] * 9, [1, 1, 1, 9, 9, 9, 9], [10, 10, 10, 10, 12, 12, 12, 12], []])
def test_what_is_equal_few_or_close_is_one_mode(values):
    assert find_modes(values) is None
