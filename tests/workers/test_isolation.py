"""Whatever the timetable looks at: a row with which that fails keeps no other from being seen to.

A trigger of the database refuses every change of one row of each kind of work, and another team's row comes after it.
"""

from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.campaigns.models import Campaign, Event
from apps.core import isolation, queue
from apps.core.models import SetAside
from tests import factories
from tests.agents.factories import listening
from tests.rotation import part_of
from tests.workers import poison, timetable_cases
from tests.workers.timetable_cases import Case
from workers import tasks, timetable
from workers.celery import app

# As workers do it: whatever is not in a transaction of its own is committed.
pytestmark = pytest.mark.django_db(transaction=True)
# What beat asks for, as tasks: their parts, and those that are work by themselves.
PARTS = {part.name: tasks.tick for part in timetable.TICK}
PARTS |= {part.name: tasks.tend for part in timetable.TEND}
PARTS |= {part.name: tasks.retain for part in timetable.RETAIN}
PARTS |= {part.name: tasks.count_stored for part in timetable.COUNT}
# What goes through no rows: viewers are told what changed on nodes, and files that nobody names are removed. That the
# clock was set is told of all runs at the instant when it is seen, or of none. Times that lie ahead are corrected
# table by table.
WITHOUT_ROWS = {
    "correct_times",
    "end_idle_transactions",
    "note_clock_steps",
    "tell_waits",
    "sweep_uploads",
    "sweep_archives",
    "sweep_renderings",
    "sweep_scratch",
}
WHOLE = {"carry_out_rules": tasks.retain, "index_due": tasks.index_archive}


@pytest.fixture(autouse=True)
def cured(transactional_db: None) -> Iterator[None]:
    """Leave no row poisoned."""
    yield
    poison.cure()


@pytest.fixture(autouse=True)
def messages(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the messages that were sent and no worker has taken."""
    settings.VAR_DIR = tmp_path
    sent: list[tuple[str, tuple[Any, ...]]] = []
    monkeypatch.setattr(queue, "send", lambda task, *arguments: sent.append((task, arguments)))
    return sent


def look(task: Any, messages: list[tuple[str, tuple[Any, ...]]]) -> None:
    """Carry out what beat asks for, and all that this asks for in turn, as workers do: one that fails is logged."""
    messages.clear()
    if task is not tasks.tick:
        listening()
    task()
    done = 0
    while messages:
        name, arguments = messages.pop(0)
        done += 1
        assert done < 50, f"{name} asks for itself for ever"
        getattr(tasks, name.rpartition(".")[2])(*arguments)


def poisoned(case: Case) -> Any:
    if case.insert_column:
        return poison.row(case.model, case.poisoned, column=case.insert_column, insert=True)
    return poison.row(case.model, case.poisoned)


def test_each_task_of_the_timetable_goes_part_by_part_and_each_part_has_a_case() -> None:
    asked = {entry["task"].rpartition(".")[2] for entry in app.conf.beat_schedule.values()}
    assert asked == {"tick", "tend", "retain", "count_stored", "index_archive"}
    assert PARTS.keys() >= WITHOUT_ROWS
    assert all(hasattr(timetable_cases, name) for name in {**PARTS, **WHOLE}.keys() - WITHOUT_ROWS)


@pytest.mark.parametrize("name", part_of(name for name in [*PARTS, *WHOLE] if name not in WITHOUT_ROWS))
def test_a_poisoned_row_keeps_no_other_from_its_turn(
    name: str, cast: SimpleNamespace, messages: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    case = getattr(timetable_cases, name)(cast)
    task = {**PARTS, **WHOLE}[name]
    first, second = case.is_done
    assert not first() and not second()
    cure = poisoned(case)
    look(task, messages)
    assert second(), caplog.text
    assert not first()
    kept = SetAside.objects.get(work=case.work, row_id=case.row)
    assert poison.REASON in kept.reason
    assert f"{case.work} failed with row {case.row}" in caplog.text
    # It cannot eat the processor: looked at again at once it is passed over.
    look(task, messages)
    kept.refresh_from_db()
    assert kept.attempts == 1 and kept.retry_at > timezone.now() - timedelta(seconds=5)
    cure()
    case.hasten()
    SetAside.objects.filter(work=case.work).update(retry_at=timezone.now() - timedelta(seconds=1))
    look(task, messages)
    assert first(), caplog.text
    assert not SetAside.objects.filter(work=case.work).exclude(work=isolation.FORGET).exists()


@pytest.mark.django_db
def test_what_was_set_aside_before_the_clock_was_set_back_is_tried_again() -> None:
    now = timezone.now()
    later = now + timedelta(hours=1)
    tried: list[int] = []

    def fail(pk: int) -> None:
        tried.append(pk)
        raise ValueError("again")

    isolation.for_each("work", [7], fail, now=later)
    isolation.for_each("work", [7], fail, now=later)
    assert tried == [7]
    kept = SetAside.objects.get()
    # A row of its own stands for the work's here.
    SetAside.objects.update(row_id=kept.pk)
    for moment, is_waiting in ((later, True), (now, False)):
        assert kept.is_waiting(moment) == is_waiting
        assert SetAside.objects.filter(isolation.waiting("work", moment)).exists() == is_waiting
    SetAside.objects.update(row_id=7)
    isolation.for_each("work", [7], fail, now=now)
    isolation.for_each("work", [7], fail, now=now)
    assert tried == [7, 7]


def test_it_is_tried_again_after_growing_delays_and_its_team_and_the_administrator_see_it(
    cast: SimpleNamespace, messages: list[Any], client: Client
) -> None:
    case = timetable_cases.launch_due(cast)
    poisoned(case)
    waits = []
    for _attempt in range(4):
        look(tasks.tick, messages)
        kept = SetAside.objects.get(work=case.work)
        waits.append((kept.retry_at - kept.last_at).total_seconds())
        SetAside.objects.update(retry_at=timezone.now() - timedelta(seconds=1))
    assert waits == [5, 10, 20, 40]
    assert isolation.wait(50) == isolation.LONGEST_WAIT
    # Told once.
    event = Event.objects.get(campaign=case.row, level="error")
    assert "launch_due" in str(event.message)
    client.force_login(cast.oscar)
    page = client.get(Campaign.objects.get(pk=case.row).get_absolute_url()).content.decode()
    assert "Something went wrong on our side (launch_due)" in page
    client.force_login(factories.user("root", is_staff=True, is_superuser=True))
    listed = client.get("/admin/core/setaside/").content.decode()
    assert poison.REASON in listed


def test_a_part_that_fails_as_a_whole_is_passed_over_for_a_while_and_keeps_no_other(
    cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, messages: list[Any]
) -> None:
    case = timetable_cases.schedule(cast)
    calls = []

    def stumble(*, now: object) -> None:
        calls.append(now)
        raise ValueError("broken")

    monkeypatch.setattr(timetable, "TICK", (isolation.TimetablePart("stumble", stumble), *timetable.TICK))
    look(tasks.tick, messages)
    look(tasks.tick, messages)
    assert len(calls) == 1 and case.is_done[1]()
    assert SetAside.objects.get(work="stumble").row_id == isolation.ALL
    assert isolation.wait(50, isolation.LONGEST_WAIT_OF_ALL) == timedelta(seconds=30)
