"""A web process that gets no connection, though the database has some, says so and is restarted."""

from typing import Any

import pytest
from django.test import Client

from apps.core import outage, sessions, starvation

pytestmark = pytest.mark.django_db


class Pool:
    """Says of itself what a test tells it to."""

    def __init__(self) -> None:
        self.stats = {"pool_available": 0, "pool_size": 12, "pool_max": 12, "requests_num": 20}

    def get_stats(self) -> dict[str, int]:
        return self.stats


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Pool:
    held = Pool()
    monkeypatch.setattr(outage, "pool", lambda: held)
    monkeypatch.setattr(starvation, "of_process", starvation.Pool())
    return held


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seconds = [1000.0]
    monkeypatch.setattr(starvation.time, "monotonic", lambda: seconds[0])
    return seconds


def looks(client: Client) -> tuple[int, int]:
    return client.get("/health/").status_code, client.get("/health/live/").status_code


def test_who_gets_no_connection_for_long_says_so_and_then_is_no_longer_alive(
    client: Client, held: Pool, clock: list[float]
) -> None:
    assert looks(client) == (200, 200)
    clock[0] += starvation.TOLD_AFTER_S + 1
    # Those who wait, and those who were refused, got none.
    held.stats |= {"requests_num": 25, "requests_waiting": 2, "requests_errors": 3}
    assert looks(client) == (503, 200)
    assert "gets no connection" in client.get("/health/").json()["parts"]["database"]["what"]
    clock[0] += starvation.ENDS_AFTER_S
    assert looks(client) == (503, 503)


@pytest.mark.parametrize("change", [{"pool_available": 1}, {"pool_size": 11}, {"requests_num": 21}])
def test_a_pool_that_gives_one_now_and_then_is_only_busy(
    client: Client, held: Pool, clock: list[float], change: dict[str, int]
) -> None:
    assert looks(client) == (200, 200)
    clock[0] += 2 * starvation.ENDS_AFTER_S
    held.stats |= change
    assert looks(client) == (200, 200)


def test_a_database_that_is_away_restarts_nobody(
    client: Client, held: Pool, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert looks(client) == (200, 200)
    clock[0] += 2 * starvation.ENDS_AFTER_S

    def refuse(**_limits: Any) -> None:
        raise outage.psycopg.OperationalError("refused")

    monkeypatch.setattr(sessions.Session, "connect", refuse)
    assert client.get("/health/live/").status_code == 200


def test_who_hears_no_agent_says_so_and_ends_only_if_it_does_not_even_try(
    client: Client, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock[0] += 2 * starvation.ENDS_AFTER_S
    # No agent has ever asked here.
    assert looks(client) == (200, 200) and client.get("/health/").json()["parts"]["database"]["ok"]
    starvation.heard.note()
    starvation.tried_to_hear.note()
    clock[0] += starvation.TOLD_AFTER_S + 1
    part = client.get("/health/").json()["parts"]["database"]
    assert not part["ok"] and "when agents were heard" in part["what"]
    starvation.tried_to_hear.note()
    clock[0] += starvation.ENDS_AFTER_S - 1
    assert looks(client) == (200, 200)
    clock[0] += 2
    assert looks(client) == (200, 503)
