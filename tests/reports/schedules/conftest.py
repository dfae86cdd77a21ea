"""A management report and a weekly series of campaigns, of a team with little measured."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from apps.campaigns.models import Campaign
from apps.reports import services as reports
from apps.reports.models import Schedule
from apps.reports.overview.selection import Selection
from apps.reports.schedules import services
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.comparison.history.conftest import measured

NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)


@pytest.fixture
def world(cast: Any, pair: list[Node], settings: Any, tmp_path: Any) -> SimpleNamespace:
    """Return a management report, a series, and one campaign of it that has ended."""
    settings.VAR_DIR = tmp_path
    # Whom the tests mail need not confirm it; what becomes of others has tests of its own.
    settings.MAIL_DOMAINS = ("example.org",)
    report = reports.begin_management_report(
        team=cast.team, user=cast.oscar, language="en", title="Quarter", selection=Selection().as_json()
    )
    series = make.campaign(cast, name="Weekly", cron="0 2 * * 1")
    make.experiment(series, *pair)
    return SimpleNamespace(cast=cast, pair=pair, report=report, series=series)


def occurrence(world: SimpleNamespace, at: datetime) -> Campaign:
    """Return a campaign of the series that was measured and has ended."""
    made = measured(world.cast, world.pair, 940e6, at, name=f"Weekly {at:%d}")
    ended = {"series": world.series, "state": "finished", "finished_at": at + timedelta(hours=1), "analysed_at": at}
    Campaign.objects.filter(pk=made.pk).update(**ended)
    return Campaign.objects.get(pk=made.pk)


def schedule(world: SimpleNamespace, **changes: Any) -> Schedule:
    """Return a schedule of the management report, daily at 07:00 in Seoul, one JSON file, for two recipients."""
    values = {
        "user": world.cast.oscar,
        "now": NOW,
        "name": "Daily",
        "report": world.report,
        "series": None,
        "language": "en",
        "cron": "0 7 * * *",
        "cron_timezone": "Asia/Seoul",
        "formats": ["json"],
        "recipients": ["lead@example.org", "other@example.org"],
    } | changes
    return services.save_schedule(schedule=Schedule(team=world.cast.team), **values)
