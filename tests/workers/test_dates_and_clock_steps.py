"""The server's clock set for a moment by mistake: nothing begins by it, and no date is skipped or repeated."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.utils import timezone

from apps.campaigns.models import Campaign
from apps.core import clock, clock_steps, isolation, queue
from apps.reports.models import Delivery, Schedule
from tests.workers import timetable_cases
from workers import timetable

pytestmark = pytest.mark.django_db
# Between two dates of a series that has one each hour, the first of which has been.
NOW = timezone.now().replace(minute=15, second=0, microsecond=0)
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
PARTS = (*timetable.TICK, *timetable.TEND)


class ServerClock:
    """The server's clock, and who looks at all there is each second; `even` is the time (s) that nobody can set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.even, self.by = 0.0, 0.0
        monkeypatch.setattr(timezone, "now", lambda: NOW + (self.even + self.by) * SECOND)
        monkeypatch.setattr(clock_steps, "lead", lambda: self.by)
        wall = clock.WallClock(lambda: timezone.now().timestamp(), lambda: self.even)
        monkeypatch.setattr(clock, "wall", wall)
        monkeypatch.setattr(queue, "send", lambda *_message: None)

    def look_after(self, seconds: float) -> None:
        self.even += seconds
        isolation.carry_out(PARTS)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> ServerClock:
    return ServerClock(monkeypatch)


@pytest.fixture
def dated(cast: SimpleNamespace, server: ServerClock) -> None:
    """Have a campaign, a series and schedules of reports, all of which have a date within the hour."""
    timetable_cases.start_due(cast)
    _campaign, series = timetable_cases.launched(cast, start_at=NOW + HOUR / 2)
    for rows in (Campaign.objects.filter(pk=series.pk), Schedule.objects.all()):
        rows.update(cron="0 * * * *", next_at=NOW + HOUR * 3 / 4)
    Campaign.objects.filter(pk=series.pk).update(start_at=None)
    server.look_after(0)
    server.look_after(10)


def dates() -> list[Any]:
    """Return all that has a next date, with what it is at, and what has begun."""
    models = [model for model in apps.get_models() if any(each.name == "next_at" for each in model._meta.fields)]
    assert {Campaign, Schedule} <= set(models)
    rows = [model.objects.order_by("pk").values("pk", "next_at") for model in models]
    return [
        *map(list, rows),
        *Campaign.objects.order_by("pk").values("state", "skipped_dates"),
        Delivery.objects.count(),
    ]


@pytest.mark.parametrize("by", [3, 7200, 40 * 86400, -7200])
def test_nothing_begins_nor_is_put_off_by_a_clock_that_is_right_again(
    dated: None, server: ServerClock, by: float
) -> None:
    before = dates()
    for server.by in (by, by, 0.0, 0.0):
        server.look_after(1)
    server.look_after(10)
    assert dates() == before


def test_what_is_due_by_a_clock_that_was_set_for_good_begins_some_seconds_later(
    dated: None, server: ServerClock
) -> None:
    server.by = 7200
    server.look_after(1)
    server.look_after(4)
    assert not Campaign.objects.filter(state="running").exists()
    server.look_after(1)
    # Of the series an occurrence.
    assert Campaign.objects.filter(state="running").count() == 2
    assert Delivery.objects.count() == 2
