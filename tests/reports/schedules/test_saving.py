"""A schedule is refused with the field that is wrong and what to do."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404

from apps.campaigns.errors import Refused
from apps.reports.models import Report, Schedule
from apps.reports.schedules import services
from tests.campaigns import factories as make
from tests.reports.schedules.conftest import NOW, schedule


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"cron": "0 7 * *"}, "cron", "five fields"),
        ({"cron": "*/30 * * * *"}, "cron", "more often than once an hour"),
        ({"cron": "0,59 7 * * *"}, "cron", "more often than once an hour"),
        ({"cron_timezone": "Mars/Base"}, "cron_timezone", "no time zone"),
        ({"recipients": ["lead@example.org", "nobody"]}, "recipients", "“nobody” is no mail address"),
        ({"recipients": ["a@example.org\nBcc: b@example.org"]}, "recipients", "is no mail address"),
        ({"recipients": [f"a{n}@example.org" for n in range(51)]}, "recipients", "50 addresses at most"),
        ({"formats": ["json", "exe"]}, "formats", "There is no format “exe”"),
        ({"report": None}, "report", "one of the two"),
    ],
)
def test_what_is_wrong_is_named(world: SimpleNamespace, changes: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(Refused) as caught:
        schedule(world, **changes)
    [text] = caught.value.message_dict[field]
    assert said in text
    assert not Schedule.objects.exists()


def test_only_what_the_team_has_can_be_delivered(world: SimpleNamespace) -> None:
    others = Report.objects.create(
        team=world.cast.other_team, kind="management", language="en", title="Theirs", selection={}
    )
    once = make.campaign(world.cast, name="Once")
    for changes, field in (
        ({"series": world.series}, "report"),
        ({"report": others}, "report"),
        ({"report": Report.objects.create(team=world.cast.team, language="en")}, "report"),
        ({"report": None, "series": once}, "series"),
    ):
        with pytest.raises(Refused) as caught:
            schedule(world, **changes)
        assert list(caught.value.message_dict) == [field]


def test_who_may_not_write_keeps_no_schedule(world: SimpleNamespace) -> None:
    with pytest.raises(PermissionDenied):
        schedule(world, user=world.cast.bob)
    with pytest.raises(Http404):
        schedule(world, user=world.cast.charlie)


def test_a_schedule_follows_its_zone_its_report_and_whoever_saved_it(world: SimpleNamespace) -> None:
    mail_schedule = schedule(
        world, language="ko", recipients=["a@example.org", " a@example.org "], formats=["pdf", "json"]
    )
    # A management report is in its own language.
    assert (mail_schedule.language, mail_schedule.recipients, mail_schedule.formats) == (
        "en",
        ["a@example.org"],
        ["pdf", "json"],
    )
    assert mail_schedule.next_at == datetime(2026, 3, 2, 22, 0, tzinfo=UTC)
    saved = services.save_schedule(
        schedule=mail_schedule,
        user=world.cast.alice,
        now=NOW,
        name="Daily",
        report=mail_schedule.report,
        series=None,
        language="en",
        cron="0 7 * * *",
        cron_timezone="UTC",
        formats=[],
        recipients=[],
        is_active=False,
    )
    assert (saved.next_at, saved.saved_by) == (None, world.cast.alice)
    services.start_due(now=datetime(2030, 1, 1, tzinfo=UTC))
    assert not saved.deliveries.exists()
