"""What /health/ says of each part, and to whom."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client

from apps.core import broker, health, outage, signs

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nobody_gave_a_sign() -> Iterator[None]:
    client = broker.client(timeout_s=1)
    client.delete(signs._KEY)
    yield
    client.delete(signs._KEY)


def give(name: str, *, ago_s: float = 0, turn_ago_s: float | None = None) -> None:
    """Have given a sign some seconds ago."""
    signs.give(name, running_s=60, turn_ago_s=turn_ago_s)
    client = broker.client(timeout_s=1)
    stored = json.loads(client.hget(signs._KEY, name))
    moved = {key: value and value - ago_s for key, value in stored.items()}
    client.hset(signs._KEY, name, json.dumps(moved))


def parts(client: Client) -> dict[str, Any]:
    answer = client.get("/health/")
    return answer.json()["parts"]


def test_each_part_says_whether_it_works_and_since_when(client: Client) -> None:
    give("worker@host-a.secret.example", turn_ago_s=1)
    give("worker-long@host-a.secret.example")
    give("beat@host-a.secret.example")
    answer = client.get("/health/")
    body = answer.json()
    assert (answer.status_code, body["status"]) == (200, "ok")
    assert {name: part["ok"] for name, part in body["parts"].items()} == dict.fromkeys(
        ("database", "broker", "workers", "timetable"), True
    )
    assert all(part["since"] for part in body["parts"].values())
    assert body["parts"]["workers"]["what"] == "At work: worker, worker-long."
    # A stranger learns nothing of the machines.
    assert "host-a" not in answer.content.decode()
    assert connection.settings_dict["NAME"] not in answer.content.decode()


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


def test_a_broker_that_is_away_is_told_with_since_when(client: Client, settings: Any) -> None:
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


def test_without_the_database_it_is_503_and_when_to_come_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[BaseException] = []

    def fail() -> None:
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(health.connection, "cursor", fail)
    monkeypatch.setattr(outage.watch, "note", noted.append)
    answer = client.get("/health/")
    assert (answer.status_code, answer.json()["status"], answer.headers["Retry-After"]) == (503, "away", "5")
    assert answer.json()["parts"]["database"]["ok"] is False
    assert "lost" not in answer.content.decode()
    assert [str(error) for error in noted] == ["the connection is lost"]
    assert client.head("/health/").status_code == 503
    # The process itself answers: nobody is to start it again for that.
    assert client.get("/health/live/").status_code == 200
