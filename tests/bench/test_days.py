"""The day of a Unix time is that of the calendar."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from apps.bench.units.days import day_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("seed", range(20))
def test_a_day_is_that_of_the_calendar(seed):
    source = random.Random(seed)
    for _day in range(200):
        at = source.uniform(-30e9, 60e9)
        assert day_of(at) == (EPOCH + timedelta(seconds=at)).date().isoformat()


@pytest.mark.parametrize("year", [1600, 1900, 1970, 2000, 2024, 2026, 2100, 2400])
def test_leap_days_and_turns_of_the_year_are_where_they_belong(year):
    for month, day in ((1, 1), (2, 28), (3, 1), (12, 31)):
        noon = datetime(year, month, day, 12, tzinfo=UTC)
        for shift in (-1, 0, 1):
            own = noon + timedelta(days=shift)
            assert day_of(own.timestamp()) == own.date().isoformat()
