"""The door to Celery."""

import logging

import pytest
from django.db import transaction
from kombu.exceptions import OperationalError
from pytest_django import DjangoCaptureOnCommitCallbacks

from apps.core import queue


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
