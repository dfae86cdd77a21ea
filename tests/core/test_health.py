"""What /health/ says of each part, and to whom."""

import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from django.test import Client
from django.utils import timezone

from apps.core import backends, outage, sessions, signs, space
from apps.core.models import SetAside
from tests import outages
from tests.core.signing import ALL, give, nobody_gave_a_sign, parts

__all__ = ["nobody_gave_a_sign"]

pytestmark = pytest.mark.django_db


def test_each_part_says_whether_it_works_and_since_when(client: Client) -> None:
    give("worker@host-a.secret.example", turn_ago_s=1)
    give("worker-long@host-a.secret.example")
    give("beat@host-a.secret.example")
    answer = client.get("/health/")
    body = answer.json()
    assert (answer.status_code, body["status"]) == (200, "ok")
    assert {name: part["ok"] for name, part in body["parts"].items()} == dict.fromkeys(
        ("database", "migrations", "broker", "workers", "timetable", "readings", "clock", "logs"), True
    )
    assert all(part["since"] for part in body["parts"].values())
    assert body["parts"]["workers"]["what"] == "At work: worker, worker-long."
    # A stranger learns nothing of the machines.
    assert "host-a" not in answer.content.decode()
    assert connection.settings_dict["NAME"] not in answer.content.decode()


@pytest.mark.parametrize("name", ALL)
def test_a_queue_that_no_worker_looks_after_is_named_however_it_came_to_that(client: Client, name: str) -> None:
    give("worker@a", turn_ago_s=1, queues=tuple(other for other in ALL if other != name))
    give("beat@a")
    # Removed, never started, or so long dead that its sign is forgotten.
    give("other@a", ago_s=4000, queues=(name,))
    part = parts(client)["workers"]
    assert not part["ok"]
    assert part["what"].startswith("No worker is there for: ") and f"(queue {name})" in part["what"]
    give("other@a", queues=(name,))
    assert parts(client)["workers"]["ok"]


def test_a_worker_that_fell_silent_is_named_with_the_time_of_its_last_sign(client: Client) -> None:
    give("worker@a", turn_ago_s=1)
    give("worker-long@a", ago_s=40)
    give("beat@a")
    answer = client.get("/health/")
    # Pages work: a load balancer goes on sending people here.
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    workers = answer.json()["parts"]["workers"]
    assert (workers["ok"], workers["what"]) == (False, "No sign of life from: worker-long.")
    assert workers["since"]


def test_a_worker_of_which_a_process_hangs_is_named_with_since_when(client: Client) -> None:
    give("worker@a", turn_ago_s=1)
    signs.give("worker-long@a.secret.example", running_s=600, turn_ago_s=None, queues=ALL, hung_s=40)
    give("beat@a")
    answer = client.get("/health/")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    workers = answer.json()["parts"]["workers"]
    assert workers["what"] == "A process hangs in: worker-long. It is ended, and its work taken up again."
    since = datetime.fromisoformat(workers["since"])
    assert 40 <= (timezone.now() - since).total_seconds() < 60


def test_a_worker_that_was_removed_is_forgotten(client: Client) -> None:
    give("worker@a", ago_s=4000)
    assert parts(client)["workers"]["what"] == "No worker gives a sign of life."
    assert signs.given() == []
    give("worker@a")
    signs.withdraw("worker@a")
    assert signs.given() == []


def test_a_timetable_whose_turns_nobody_takes_does_not_work(client: Client) -> None:
    assert parts(client)["timetable"]["what"] == "The timetable gives no sign of life."
    give("beat@a")
    assert parts(client)["timetable"]["what"] == "It runs, but no worker takes its turns."
    give("worker@a", turn_ago_s=60)
    assert parts(client)["timetable"]["ok"] is False
    give("worker@a", turn_ago_s=1)
    assert parts(client)["timetable"]["ok"] is True
    give("beat@a", ago_s=40)
    assert parts(client)["timetable"]["what"] == "The timetable gives no sign of life."


@pytest.fixture(params=["has room", "is full"])
def is_full(request: pytest.FixtureRequest, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Have the embedded servers' folders on a disk of their own, which perhaps is full."""
    settings.VAR_DIR = tmp_path
    for folder in ("postgres/cluster", "valkey"):
        (tmp_path / folder).mkdir(parents=True)
    if request.param == "is full":
        # No disk of a test has so much.
        monkeypatch.setattr(space, "RESERVE_BYTES", 1 << 62)
    return bool(request.param == "is full")


def test_a_broker_that_is_away_is_told_with_since_when(client: Client, settings: Any, *, is_full: bool) -> None:
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    signs._client.cache_clear()
    try:
        first, second = client.get("/health/"), client.get("/health/")
    finally:
        signs._client.cache_clear()
    assert (first.status_code, first.json()["status"]) == (200, "degraded")
    assert first.json()["parts"]["broker"]["ok"] is False
    assert first.json()["parts"]["broker"]["since"] == second.json()["parts"]["broker"]["since"]
    assert first.json()["parts"]["workers"]["what"] == "Not known while the broker is away."
    assert ("its disk is full" in first.json()["parts"]["broker"]["what"]) is is_full


def test_without_the_database_it_is_503_and_when_to_come_again(
    client: Client, monkeypatch: pytest.MonkeyPatch, *, is_full: bool
) -> None:
    noted: list[BaseException] = []

    def fail() -> None:
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(backends, "look", fail)
    monkeypatch.setattr(outage.watch, "note", noted.append)
    answer = client.get("/health/")
    assert (answer.status_code, answer.json()["status"], answer.headers["Retry-After"]) == (503, "away", "5")
    assert answer.json()["parts"]["database"]["ok"] is False
    assert "lost" not in answer.content.decode()
    assert ("its disk is full" in answer.json()["parts"]["database"]["what"]) is is_full
    assert [str(error) for error in noted] == ["the connection is lost"]
    assert client.head("/health/").status_code == 503
    # The process itself answers: nobody is to start it again for that.
    assert client.get("/health/live/").status_code == 200


@pytest.fixture(params=outages.REFUSALS)
def refusing(request: pytest.FixtureRequest) -> Iterator[str]:
    """Have the broker answer and take nothing; return a word of what it says."""
    with outages.refusing_broker(request.param) as word:
        yield word


def test_a_broker_that_answers_and_takes_nothing_is_named_in_its_words(client: Client, refusing: str) -> None:
    answer = client.get("/health/")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    part = answer.json()["parts"]["broker"]
    assert (part["ok"], refusing in part["what"]) == (False, True)
    assert part["since"] == client.get("/health/").json()["parts"]["broker"]["since"]
    assert answer.json()["parts"]["workers"]["what"] == "Not known while the broker takes no work."


@pytest.mark.django_db(transaction=True)
def test_a_table_that_is_locked_is_named(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_LONG_S", 0.2)
    table, ended = SetAside._meta.db_table, threading.Event()

    def wait_for_it() -> None:
        try:
            SetAside.objects.exists()
        finally:
            ended.set()
            connection.close()

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {table}")
        threading.Thread(target=wait_for_it).start()
        deadline = time.monotonic() + 20
        while (answer := client.get("/health/")).json()["status"] == "ok" or "locked" not in answer.content.decode():
            assert time.monotonic() < deadline
    # Pages that need no such table do.
    assert answer.status_code == 200
    part = answer.json()["parts"]["database"]
    assert (part["ok"], part["what"]) == (
        False,
        f"It answers, but requests wait for what another holds locked: {table}.",
    )
    assert ended.wait(20)
    assert parts(client)["database"]["ok"] is True


def test_a_database_that_shuts_down_says_so_though_those_in_it_still_work(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_options: object) -> None:
        raise psycopg.OperationalError("connection failed: FATAL:  the database system is shutting down")

    monkeypatch.setattr(sessions.Session, "connect", refuse)
    # Whoever looks at it further would do so beyond this test.
    monkeypatch.setattr(outage.watch, "note", lambda _error: None)
    answer = client.get("/health/")
    part = answer.json()["parts"]["database"]
    assert (answer.status_code, part["ok"]) == (503, False)
    assert part["what"] == "It is shutting down: work goes on when it is back."
