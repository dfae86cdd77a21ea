"""A part of the timetable that comes to no end is told of; rows that wait for the service itself wait briefly."""

from collections.abc import Callable
from datetime import timedelta

import psycopg
import pytest
from django.db import DataError, OperationalError, connection
from django.test import Client
from django.utils import timezone

from apps.core import broker, isolation, leases, signs
from apps.core.models import SetAside
from tests import leasing
from tests.core.signing import give, nobody_gave_a_sign, parts
from tests.hung_sessions import hung
from workers import tasks, timetable

__all__ = ["nobody_gave_a_sign"]

pytestmark = pytest.mark.django_db(transaction=True)
NAMES = [part.name for part in (*timetable.TICK, *timetable.TEND)]


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return which parts were carried out; none does anything."""
    names: list[str] = []
    for group in ("TICK", "TEND", "RETAIN", "COUNT"):
        noting = (
            isolation.TimetablePart(part.name, lambda now, name=part.name: names.append(name))  # type: ignore[misc]
            for part in getattr(timetable, group)
        )
        monkeypatch.setattr(timetable, group, tuple(noting))
    return names


def look_later() -> None:
    """Have the timetable look, as a minute and more after each part ended last."""
    client = broker.client(timeout_s=1)
    for name, at in client.hgetall(signs._ENDED).items():
        client.hset(signs._ENDED, name, float(at) - signs.LATE_AFTER_S - 1)
    tasks.tick()
    tasks.tend()


@pytest.mark.parametrize("name", NAMES)
def test_whichever_part_is_held_it_is_named_until_it_has_ended(client: Client, done: list[str], name: str) -> None:
    give("worker@a", turn_ago_s=1)
    give("beat@a")
    with leasing.elsewhere(f"part {name}"):
        look_later()
        assert parts(client)["timetable"]["ok"]
        look_later()
        timetable = parts(client)["timetable"]
        assert not timetable["ok"] and timetable["what"].endswith(f": {name}.")
    look_later()
    assert parts(client)["timetable"]["ok"] and name in done


def test_what_may_last_for_hours_is_not_late(client: Client, done: list[str]) -> None:
    isolation.carry_out(timetable.COUNT, is_long=True)
    assert done and not signs.late_parts()


@pytest.mark.parametrize("group", ["TICK", "TEND"])
def test_a_part_goes_on_beside_a_session_that_hangs(
    done: list[str], monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    monkeypatch.setattr(leases, "IDLE_SOON_AFTER_S", 0)
    monkeypatch.setattr(leases, "_ENDS_WITHIN_S", 0)
    name, other = getattr(timetable, group)[0].name, connection.copy()
    with other.cursor() as cursor:
        key = f"part {name}:0"
        cursor.execute("SELECT pg_backend_pid(), pg_try_advisory_lock(hashtextextended(%s, 0))", [key])
        with hung(cursor.fetchone()[0]):
            for _turn in range(2):
                isolation.carry_out(getattr(timetable, group))
            assert name in done
    other.close()
    assert leasing.is_free_in_time(f"part {name}")


def of(cause: type[psycopg.Error]) -> Callable[[int], None]:
    def fail(_pk: int) -> None:
        raise (OperationalError if issubclass(cause, psycopg.OperationalError) else DataError)("no") from cause()

    return fail


@pytest.mark.parametrize(
    ("cause", "longest"),
    [
        (psycopg.errors.LockNotAvailable, isolation.LONGEST_WAIT_OF_OURS),
        (psycopg.errors.DeadlockDetected, isolation.LONGEST_WAIT_OF_OURS),
        (psycopg.errors.DiskFull, isolation.LONGEST_WAIT_OF_OURS),
        (psycopg.OperationalError, isolation.LONGEST_WAIT_OF_OURS),
        (psycopg.errors.QueryCanceled, isolation.LONGEST_WAIT_OF_SLOW),
        (psycopg.errors.NumericValueOutOfRange, isolation.LONGEST_WAIT),
    ],
)
def test_a_row_waits_no_longer_for_the_services_state_than_for_itself(
    cause: type[psycopg.Error], longest: timedelta
) -> None:
    now = timezone.now()
    for _attempt in range(12):
        SetAside.objects.update(retry_at=now)
        isolation.for_each("work", [7], of(cause), now=now)
    assert SetAside.objects.get().retry_at - now == longest
