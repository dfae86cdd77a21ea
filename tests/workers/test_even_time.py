"""Nothing is removed for good while a clock that was set, or an outage, leaves open how much time has passed."""

from collections.abc import Callable
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.agents import services as agents
from apps.agents.models import Listener
from apps.archive.models import RetentionRule
from apps.archive.retention import services as retention
from apps.core import isolation, queue
from tests.agents.factories import listening
from workers import even_time, tasks, timetable

pytestmark = pytest.mark.django_db

NOW = timezone.now()
HOUR, DAY, SECOND = timedelta(hours=1), timedelta(days=1), timedelta(seconds=1)


def heard(now: datetime) -> bool:
    """Have somebody listen at a time; return whether something may be removed then."""
    agents.record_heartbeats(heartbeats=[], now=now)
    return even_time.has_passed(now)


@pytest.mark.parametrize("ahead", [timedelta(minutes=2), 40 * DAY])
@pytest.mark.parametrize("seen_first", [True, False])
def test_a_clock_that_is_ahead_for_a_while_removes_nothing(ahead: timedelta, seen_first: bool) -> None:
    Listener.objects.create(pk=1, listening_since=NOW - 5 * HOUR, heard_until=NOW)
    assert even_time.has_passed(NOW)
    if not seen_first:
        assert not even_time.has_passed(NOW + ahead)
    for second in range(0, 48, 2):
        assert not heard(NOW + ahead + second * SECOND)
    right = NOW + 50 * SECOND
    assert not even_time.has_passed(right)
    for second in range(0, 3600, 8):
        assert not heard(right + second * SECOND)
    assert heard(right + HOUR)


@pytest.mark.parametrize(
    "listened",
    [
        lambda: None,
        lambda: listening(hours=0.99),
        lambda: Listener.objects.create(pk=1, listening_since=NOW - DAY, heard_until=timezone.now() - 15 * SECOND),
        lambda: Listener.objects.create(pk=1, listening_since=NOW - DAY, heard_until=NOW + DAY),
    ],
    ids=["never", "not an hour", "an outage", "ahead"],
)
def test_no_part_of_what_removes_is_carried_out_before(
    monkeypatch: pytest.MonkeyPatch, listened: Callable[[], Any]
) -> None:
    done: list[object] = []
    monkeypatch.setattr(isolation, "carry_out", lambda name, **_options: done.append(name))
    monkeypatch.setattr(retention, "carry_out", lambda now: done.append("rules"))
    listened()
    tasks.retain()
    assert not done
    listening()
    tasks.retain()
    assert done == [timetable.RETAIN, "rules"]


def test_rules_that_were_begun_with_wait_for_it_and_then_go_on(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[object] = []
    monkeypatch.setattr(queue, "remind", lambda *words: sent.append(words))
    rule = RetentionRule.objects.create(team=cast.team, kind="output", days=30, action="drop", begun_at=NOW)
    retention.resume_retention(now=NOW)
    assert sent == [(queue.RETAIN,)]
    tasks.retain()
    rule.refresh_from_db()
    assert rule.begun_at == NOW
    listening()
    tasks.retain()
    rule.refresh_from_db()
    assert rule.begun_at is None
