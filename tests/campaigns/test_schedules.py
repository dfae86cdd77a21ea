"""Dates by cron expressions in a time zone."""

from datetime import UTC, datetime

import pytest
from django.core.exceptions import ValidationError

from apps.accounts.models.users import validate_timezone
from apps.campaigns import errors, schedules
from tests.campaigns.factories import NOW


def dates(cron: str, timezone: str, after: datetime, count: int = 2) -> list[str]:
    found = schedules.next_dates(cron=cron, timezone=timezone, after=after, count=count)
    return [moment.isoformat() for moment in found]


def refusal(cron: str, timezone: str = "UTC") -> dict[str, list[str]]:
    with pytest.raises(errors.Refused) as caught:
        schedules.check_schedule(cron=cron, timezone=timezone, now=NOW)
    return caught.value.message_dict


def test_it_reads_the_expression_in_its_time_zone() -> None:
    assert dates("30 2 * * *", "Asia/Seoul", NOW) == ["2026-03-02T17:30:00+00:00", "2026-03-03T17:30:00+00:00"]


def test_the_next_date_is_later_than_the_one_asked_from() -> None:
    on_time = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
    assert schedules.next_date(cron="0 12 * * *", timezone="UTC", after=on_time) == on_time.replace(day=3)


def test_an_hour_that_summer_time_skips_is_made_up_for_at_once() -> None:
    night = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)
    assert dates("30 2 * * *", "Europe/Berlin", night) == ["2026-03-29T01:00:00+00:00", "2026-03-30T00:30:00+00:00"]


def test_an_hour_that_comes_twice_fires_once() -> None:
    night = datetime(2026, 10, 24, 12, 0, tzinfo=UTC)
    assert dates("30 2 * * *", "Europe/Berlin", night) == ["2026-10-25T00:30:00+00:00", "2026-10-26T01:30:00+00:00"]


@pytest.mark.parametrize("cron", ["0 3 * * 1", "*/10 * * * *", "0 0 29 2 *"])
def test_it_accepts_what_gives_dates(cron: str) -> None:
    schedules.check_schedule(cron=cron, timezone="Asia/Seoul", now=NOW)


@pytest.mark.parametrize("cron", ["", "every day", "* * * *", "* * * * * *", "1 2 3 4 5 6 7"])
def test_it_refuses_anything_but_five_fields(cron: str) -> None:
    assert "write five fields" in refusal(cron)["cron"][0]


@pytest.mark.parametrize("cron", ["61 * * * *", "* 25 * * *", "a b c d e", "*/0 * * * *", "5-1 * * * *", "* * 0 * *"])
def test_it_refuses_fields_out_of_range_and_names_them(cron: str) -> None:
    assert "Bad" in refusal(cron)["cron"][0]


def test_it_refuses_a_date_that_never_comes() -> None:
    assert "Bad day-of-month" in refusal("0 0 31 2 *")["cron"][0]


def test_it_waits_decades_for_a_rare_date() -> None:
    assert dates("0 0 29 2 */7", "UTC", NOW) == ["2032-02-29T00:00:00+00:00", "2060-02-29T00:00:00+00:00"]


@pytest.mark.parametrize("timezone", ["", "Mars/Olympus", "../etc/passwd", "UTC\0"])
def test_it_refuses_a_time_zone_that_is_none(timezone: str) -> None:
    assert "no time zone" in refusal("0 0 * * *", timezone)["cron_timezone"][0]


@pytest.mark.parametrize(
    "cron", ["0-59/100000 * * * *", "*/60 * * * *", "0 */24 * * *", "0 0 */32 * *", "0 0 1 */13 *"]
)
def test_a_step_beyond_its_field_is_refused(cron: str) -> None:
    with pytest.raises(ValidationError, match="no cron expression"):
        schedules.check_schedule(cron=cron, timezone="UTC", now=NOW)
    schedules.check_schedule(cron="*/59 */23 */31 */12 */7", timezone="UTC", now=NOW)


@pytest.mark.parametrize("zone", ["localtime", "Factory", "posixrules"])
def test_a_zone_of_the_machine_alone_is_refused(zone: str) -> None:
    with pytest.raises(ValidationError, match="no time zone"):
        schedules.check_schedule(cron="0 2 * * *", timezone=zone, now=NOW)
    with pytest.raises(ValidationError, match="no time zone"):
        validate_timezone(zone)
