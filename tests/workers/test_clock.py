"""The timetable has a way of its own: it runs on time however many messages wait for the other workers."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.campaigns.models import Campaign
from apps.core import queue
from tests import factories
from tests.workers import processes, timetable_cases
from workers import tasks  # noqa: F401 - else nobody has registered them
from workers.celery import app

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("workers")]
WAITING = 200


@pytest.fixture
def cast(transactional_db: None) -> Iterator[SimpleNamespace]:
    """Return the named cast, in a database that workers see, with empty queues."""
    processes.purge()
    yield factories.cast()
    processes.purge()


def beat() -> None:
    """Ask for what beat asks for, with its options."""
    for entry in app.conf.beat_schedule.values():
        app.send_task(entry["task"], **entry["options"])


def test_ticks_run_while_a_full_queue_stands_still(cast: SimpleNamespace, tmp_path: Path) -> None:
    timetable_cases.launch_due(cast)
    for number in range(WAITING):
        app.send_task(queue.JOB_CHANGED, args=(number,))
        app.send_task(queue.RENDER)
    with processes.running("worker-clock", tmp_path):
        processes.seconds_until(lambda: Campaign.objects.filter(state="running").count() == 2, each=beat)
    # Nobody has looked at what waits: nothing of it was in the way.
    assert processes.waiting_in(queue.SHORT) >= WAITING


def test_looks_at_what_waits_do_not_make_a_full_queue_longer(cast: SimpleNamespace) -> None:
    for number in range(queue.CROWDED + 5):
        queue.remind(queue.ANALYSE, number)
    assert processes.waiting_in(queue.SHORT) == queue.CROWDED
    queue.send(queue.ANALYSE, 1)
    assert processes.waiting_in(queue.SHORT) == queue.CROWDED + 1
    # Of another queue that says nothing.
    queue.remind(queue.RENDER)
    assert processes.waiting_in(queue.LONG) == 1


def test_nothing_piles_up_while_no_worker_is_there(cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    timetable_cases.ask_for_analyses(cast)
    later = timezone.now() + timedelta(seconds=1)
    task: Any = app.tasks[queue.TICK]
    while timezone.now() < later:
        task()
    for _look in range(queue.CROWDED):
        task()
    assert processes.waiting_in(queue.SHORT) <= queue.CROWDED
