"""The timetable begins what a schedule of reports is due to deliver, and takes on what was lost."""

from typing import Any

import pytest
from django.utils import timezone

from apps.core import queue
from apps.reports import services as reports
from apps.reports.models import Delivery, Schedule
from apps.reports.overview.selection import Selection
from workers import tasks


def test_the_timetable_begins_what_is_due_and_asks_a_worker_for_each_step(
    cast: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(queue, "_publish", lambda task, args: asked.append((task, *args)))
    report = reports.begin_management_report(
        team=cast.team, user=cast.oscar, language="en", title="Quarter", selection=Selection().as_json()
    )
    due = Schedule.objects.create(
        team=cast.team, name="Due", report=report, language="en", cron="0 7 * * *", saved_by=cast.oscar,
        next_at=timezone.now(),
    )  # fmt: skip
    with django_capture_on_commit_callbacks(execute=True):
        tasks.tend()
    delivery = Delivery.objects.get(schedule=due)
    assert (queue.DELIVER,) in asked
    with django_capture_on_commit_callbacks(execute=True):
        tasks.deliver()
        tasks.deliver()
    delivery.refresh_from_db()
    assert delivery.state == "done"
    assert delivery.edition and delivery.edition.report == report
    asked.clear()
    with django_capture_on_commit_callbacks(execute=True):
        tasks.tend()
    assert queue.DELIVER not in {task for task, *_args in asked}
