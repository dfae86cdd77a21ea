"""A COMMIT whose answer is lost: nobody is told that nothing was done, nor that all was."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection
from django.test import Client
from rest_framework.test import APIClient

from apps.core import outage, sessions
from apps.testbeds.models import Site
from tests.factories import Cast
from tests.hung_sessions import hung

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _nothing_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage.watch, "note", lambda _error: None)


@contextmanager
def lost_answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have each COMMIT within the block carried out and its answer lost."""
    commit = connection._commit

    def lose() -> None:
        commit()
        cause = sessions.OutcomeUnknown("server closed the connection unexpectedly")
        raise OperationalError(str(cause)) from cause

    with monkeypatch.context() as patch:
        patch.setattr(connection, "_commit", lose)
        yield


def test_who_changes_something_over_rest_is_told_to_look_first(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    client = APIClient(raise_request_exception=False)
    client.force_authenticate(cast.alice)
    with lost_answers(monkeypatch):
        answer: Any = client.post("/api/v1/sites/", {"name": "KISTI"}, format="json")
    assert (answer.status_code, "Retry-After" in answer.headers) == (504, False)
    assert "not known whether this was carried out" in answer.json()["detail"]
    assert answer.json()["fields"] == {}
    assert Site.objects.filter(name="KISTI").exists()


def test_who_changes_something_on_a_page_is_told_so_too(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(cast.alice)
    with lost_answers(monkeypatch):
        answer = client.post("/inventory/sites/new/", {"name": "Pusan"})
    assert answer.status_code == 504, answer.content
    assert "not known whether this was carried out" in answer.content.decode()


@pytest.mark.parametrize("method", ["get", "head"])
def test_who_reads_is_told_to_come_again(cast: Cast, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(cast.alice)

    def fail(*_given: object, **_named: object) -> None:
        raise OperationalError("lost") from sessions.OutcomeUnknown("lost")

    monkeypatch.setattr("django.contrib.sessions.backends.base.SessionBase.get", fail)
    assert getattr(client, method)("/campaigns/").status_code == 503


def test_a_session_knows_that_its_commit_was_not_answered() -> None:
    with sessions.beside("fathom test", answers_within_s=0.5) as session:
        session.execute("SELECT 1")
        with hung(session.info.backend_pid), pytest.raises(sessions.OutcomeUnknown):
            session.commit()


def test_what_failed_before_or_is_refused_is_known() -> None:
    session = sessions.beside("fathom test")
    session.execute("CREATE TEMPORARY TABLE one (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    session.execute("INSERT INTO one VALUES (1), (1)")
    with pytest.raises(psycopg.errors.UniqueViolation):
        session.commit()
    session.close()
    with pytest.raises(psycopg.OperationalError) as refusal:
        session.commit()
    assert not isinstance(refusal.value, sessions.OutcomeUnknown)
