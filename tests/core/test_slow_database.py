"""A database that answers, but late, is told by /health/, with what to do."""

import threading
import time

import psycopg
import pytest
from django.conf import settings
from django.test import Client

from apps.core import backends, sessions
from tests.core.signing import parts

REMEDY = "Look at the load of its machine and disks"


@pytest.mark.django_db
def test_a_statement_that_takes_long_is_told_with_what_to_do(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_SLOW_S", 0.5)
    monkeypatch.setattr(backends, "_LOOK", backends._LOOK.rstrip() + " CROSS JOIN (SELECT pg_sleep(0.6)) AS slow")
    answer = client.get("/health/")
    part = answer.json()["parts"]["database"]
    assert (answer.status_code, answer.json()["status"], part["ok"]) == (200, "degraded", False)
    assert part["what"].startswith("It answers, but slowly") and REMEDY in part["what"]
    monkeypatch.undo()
    assert parts(client)["database"]["ok"]


@pytest.mark.django_db
def test_requests_whose_statements_pile_up_are_told(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_LONG_S", 0.2)
    many = [sessions.beside("fathom web", autocommit=True) for _one in range(settings.WEB_CONNECTIONS // 2 + 1)]

    def sleep(session: sessions.Session) -> None:
        with pytest.raises(psycopg.errors.QueryCanceled):
            session.execute("SELECT pg_sleep(60)")

    threads = [threading.Thread(target=sleep, args=(session,)) for session in many]
    try:
        for thread in threads[1:]:
            thread.start()
        time.sleep(0.5)
        assert parts(client)["database"]["ok"], "no more than a half of them"
        threads[0].start()
        time.sleep(0.5)
        answer = client.get("/health/")
        part = answer.json()["parts"]["database"]
        assert (answer.status_code, part["ok"]) == (200, False)
        assert f"statements of {len(many)} requests" in part["what"] and REMEDY in part["what"]
    finally:
        for session in many:
            session.cancel_safe()
        for thread in threads:
            thread.join(20)
        for session in many:
            session.close()
    assert parts(client)["database"]["ok"]
