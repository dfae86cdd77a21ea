"""The door to Celery."""

import logging

import pytest
from django.db import transaction
from kombu.exceptions import OperationalError
from pytest_django import DjangoCaptureOnCommitCallbacks

from apps.core import broker, queue


@pytest.mark.django_db
def test_a_task_is_sent_once_the_rows_are_there(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    sent: list[tuple[str, object]] = []
    monkeypatch.setattr(queue.current_app, "send_task", lambda name, args, **_options: sent.append((name, args)))
    with django_capture_on_commit_callbacks(execute=True):
        queue.send(queue.JOB_CHANGED, 7)
        assert sent == []
    assert sent == [(queue.JOB_CHANGED, (7,))]


@pytest.mark.django_db(transaction=True)
def test_a_task_of_a_transaction_that_fails_is_never_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(queue.current_app, "send_task", lambda name, **_options: sent.append(name))
    with pytest.raises(RuntimeError), transaction.atomic():
        queue.send(queue.SCHEDULE)
        raise RuntimeError
    assert sent == []


@pytest.mark.django_db
@pytest.mark.parametrize("fault", [OperationalError("down"), ConnectionRefusedError("down")])
def test_a_broker_that_is_away_stops_nothing(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    fault: Exception,
) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise fault

    monkeypatch.setattr(queue.current_app, "send_task", refuse)
    with caplog.at_level(logging.WARNING), django_capture_on_commit_callbacks(execute=True):
        queue.send(queue.SCHEDULE)
    assert queue.SCHEDULE in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_message_for_long_work_only_wakes_and_one_is_enough() -> None:
    def waiting() -> int:
        return broker.client(timeout_s=10).llen(queue.LONG)

    for _upload in range(20):
        for task in queue.LONG_TASKS:
            queue.send(task)
            queue.remind(task)
    assert waiting() == len(queue.LONG_TASKS)
    # Whom to ask is in no row: each is asked for.
    for number in (1, 2, 2):
        queue.send(queue.ASK_RECIPIENTS, number)
    assert waiting() == len(queue.LONG_TASKS) + 2
    # What a worker took before it looked at the rows, or what the broker lost, is asked for again.
    broker.client(timeout_s=10).delete(queue.LONG)
    queue.send(queue.RENDER)
    assert waiting() == 1


@pytest.mark.django_db(transaction=True)
def test_steps_of_measurements_are_asked_for_one_by_one() -> None:
    for _job in range(3):
        queue.send(queue.JOB_CHANGED, 7)
    assert broker.client(timeout_s=10).llen(queue.SHORT) == 3
