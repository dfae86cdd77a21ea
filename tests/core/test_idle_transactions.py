"""A transaction in which nothing is asked any more is ended by a clock that is never set."""

import contextlib
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.utils import timezone

from apps.core import idle_transactions
from apps.core.connections import WEB, WORKER
from apps.core.timeouts import IDLE_S, LONG, LONG_IDLE_S
from tests.agents.live import database_url
from workers import timetable

pytestmark = pytest.mark.django_db(transaction=True)
SESSIONS = [(WEB, IDLE_S), (WORKER, IDLE_S), (WEB + LONG, LONG_IDLE_S), (WORKER + LONG, LONG_IDLE_S)]


@pytest.fixture
def monotonic(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Have whoever looks read the time here."""
    at = [0.0]
    monkeypatch.setattr(idle_transactions.time, "monotonic", lambda: at[0])
    monkeypatch.setattr(idle_transactions, "_since", {})
    return at


@contextlib.contextmanager
def session(name: str) -> Iterator[psycopg.Connection[Any]]:
    """Give one that PostgreSQL itself never ends, within a transaction: as where the clock was set far back."""
    with psycopg.connect(database_url(), application_name=name) as own:
        own.execute("SELECT 1")
        yield own


def look() -> list[int]:
    return idle_transactions.end_idle_transactions(now=timezone.now())


@pytest.mark.parametrize(("name", "limit_s"), SESSIONS)
def test_one_of_ours_is_ended_after_its_limit_and_a_little(name: str, limit_s: int, monotonic: list[float]) -> None:
    with pytest.raises(psycopg.OperationalError), session(name) as idle:
        pid = idle.info.backend_pid
        assert look() == []
        monotonic[0] = limit_s + 9.0
        assert pid not in look()
        monotonic[0] = limit_s + 11.0
        assert pid in look()
        idle.execute("SELECT 1")


def test_one_that_asks_now_and_then_goes_on(monotonic: list[float]) -> None:
    with session(WORKER) as busy:
        for at in (0.0, 65.0, 130.0, 195.0):
            monotonic[0] = at
            assert busy.info.backend_pid not in look()
            busy.execute("SELECT 1")


@pytest.mark.parametrize("name", ["", "psql", "fathom backup"])
def test_those_of_commands_and_of_others_are_left_alone(name: str, monotonic: list[float]) -> None:
    with session(name) as idle:
        look()
        monotonic[0] = 10_000.0
        assert idle.info.backend_pid not in look()
        idle.execute("SELECT 1")


def test_what_is_gone_is_not_remembered(monotonic: list[float]) -> None:
    with session(WEB):
        look()
        assert idle_transactions._since
    look()
    assert not idle_transactions._since


def test_it_is_looked_at_before_what_would_wait_for_it() -> None:
    assert timetable.TICK[0].do is idle_transactions.end_idle_transactions
