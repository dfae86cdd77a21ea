"""A lease goes with the connection of whoever holds it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection, transaction

from apps.core import leases
from tests import leasing
from tests.hung_sessions import hung

pytestmark = pytest.mark.django_db


def test_one_connection_has_it_at_a_time_and_another_row_is_another_lease() -> None:
    with leasing.elsewhere("work", 1):
        assert leases.is_held("work", 1)
        with leases.hold("work", 1) as is_ours:
            assert not is_ours
        with leases.hold("work", 2) as is_ours:
            assert is_ours


def test_it_is_free_once_its_work_has_ended_however_that_ends() -> None:
    with pytest.raises(ValueError), leases.hold("work"):
        raise ValueError
    with leasing.elsewhere("work"):
        pass


@pytest.mark.django_db(transaction=True)
def test_it_holds_over_transactions_that_come_and_go_and_ends_with_a_connection_that_dies() -> None:
    with leases.hold("work"):
        with transaction.atomic():
            transaction.set_rollback(True)
        other = connection.copy()
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(hashtextextended('work:0', 0))")
            assert cursor.fetchone() == (False,)
        other.close()
        # As when PostgreSQL is started anew: whoever works on finds out at the next statement, here at letting go.
        connection.connection.close()
    connection.close()
    assert leasing.is_free_in_time("work")


@pytest.mark.django_db(transaction=True)
def test_who_holds_one_and_does_nothing_for_too_long_is_ended() -> None:
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended('work:0', 0))")
        with leases.hold("work") as is_ours, leases.hold("other", idle_after_s=0) as is_other:
            assert (is_ours, is_other) == (False, True)
        with leases.hold("work", idle_after_s=0) as is_ours:
            assert not is_ours
        assert leasing.is_free_in_time("work")
        with pytest.raises(OperationalError):
            cursor.execute("SELECT 1")
    other.close()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("idle_after_s", "is_free"), [(0, True), (leases.IDLE_AFTER_S, False)])
def test_one_of_a_session_that_hangs_counts_for_nothing_where_work_is_soon_done(
    monkeypatch: pytest.MonkeyPatch, idle_after_s: float, is_free: bool
) -> None:
    monkeypatch.setattr(leases, "_ENDS_WITHIN_S", 0)
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid(), pg_try_advisory_lock(hashtextextended('work:0', 0))")
        (pid, _taken) = cursor.fetchone()
    with hung(pid):
        assert not _takes(idle_after_s)
        for _turn in range(2):
            with leases.hold("work", idle_after_s=idle_after_s) as is_ours:
                assert is_ours == is_free
                # Another session has it no more than this one's beside it.
                with ThreadPoolExecutor(1) as threads:
                    assert not threads.submit(_takes_by_itself, idle_after_s).result()
    other.close()
    assert leasing.is_free_in_time("work")


@pytest.fixture
def ahead(transactional_db: None) -> Iterator[None]:
    """Have the server's clock set a day ahead, for what this session asks."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA ahead")
        for name in ("clock_timestamp", "now"):
            cursor.execute(
                f"CREATE FUNCTION ahead.{name}() RETURNS timestamptz LANGUAGE sql"
                f" AS $$ SELECT pg_catalog.{name}() + interval '1 day' $$"
            )
        cursor.execute("SET search_path = ahead, public, pg_catalog")
        yield
        cursor.execute("RESET search_path")
        cursor.execute("DROP SCHEMA ahead CASCADE")


@pytest.mark.usefixtures("ahead")
@pytest.mark.parametrize("idle_after_s", [leases.IDLE_AFTER_S, leases.IDLE_SOON_AFTER_S])
def test_idle_is_who_was_seen_idle_for_so_long_whatever_the_servers_clock_says(
    idle_after_s: float, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    at = SimpleNamespace(s=0.0)
    monkeypatch.setattr(leases, "time", SimpleNamespace(monotonic=lambda: at.s))
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended('work:0', 0))")
        for _turn in range(2):
            # It begins a statement after the first turn, and is seen anew.
            for share in (0, 0.9):
                at.s += share * idle_after_s
                assert not _takes(idle_after_s)
            cursor.execute("SELECT 1")
        assert "it is ended" not in caplog.text
        for step_s in (0, 2 * idle_after_s):
            at.s += step_s
            assert not _takes(idle_after_s)
        assert f"idle for {2 * idle_after_s:.0f} s: it is ended" in caplog.text
        assert leasing.is_free_in_time("work")
    other.close()


@pytest.mark.django_db(transaction=True)
def test_no_more_leases_are_watched_than_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "_MOST_WATCHED", 2)
    leases._watched.clear()
    with ExitStack() as others:
        for number in range(4):
            others.enter_context(leasing.elsewhere("work", number))
            assert leases.is_held("work", number)
        assert list(leases._watched) == ["work:2", "work:3"]


def _takes(idle_after_s: float) -> bool:
    with leases.hold("work", idle_after_s=idle_after_s) as is_ours:
        return is_ours


def _takes_by_itself(idle_after_s: float) -> bool:
    is_ours = _takes(idle_after_s)
    connection.close()
    return is_ours
