"""Who asks a server process that hangs gives it up; whoever holds a lease for nothing is ended."""

import time
from collections.abc import Callable, Iterator
from functools import partial

import psycopg
import pytest
import pytest_django
from django.db import InternalError, OperationalError, connection, transaction
from django.db.utils import ConnectionHandler

from apps.core import connections, outage, sessions, timeouts
from tests.hung_sessions import hung

FITS: dict[str, Callable[[connections.Entry], None]] = {
    "web": lambda entry: connections.fit_to_web(entry, most=2),
    "worker": connections.fit_to_worker,
}


def pid_of(made: object) -> int:
    with made.cursor() as cursor:  # type: ignore[attr-defined]
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


@pytest.fixture
def fitted(request: pytest.FixtureRequest, django_db_blocker: pytest_django.DjangoDbBlocker) -> Iterator[object]:
    """Give the connection that a web process or a worker has, with a limit of a moment in the place of theirs."""
    entry = {**connection.settings_dict, "OPTIONS": {**connection.settings_dict["OPTIONS"]}}
    FITS[request.param](entry)
    assert entry["OPTIONS"]["answers_within_s"] == connections.ANSWERS_WITHIN_S
    entry["OPTIONS"]["answers_within_s"] = 0.5
    connection_of_kind = ConnectionHandler({"default": entry})["default"]
    with django_db_blocker.unblock():
        yield connection_of_kind
        connection_of_kind.close()
        connection_of_kind.close_pool()


@pytest.mark.parametrize("fitted", FITS, indirect=True)
@pytest.mark.django_db
def test_a_session_that_hangs_is_given_up_and_the_next_is_another(fitted: object) -> None:
    for ask in (lambda cursor: cursor.execute("SELECT 1"), lambda cursor: fitted.commit()):  # type: ignore[attr-defined]
        fitted.set_autocommit(False)  # type: ignore[attr-defined]
        pid = pid_of(fitted)
        with fitted.cursor() as cursor, hung(pid):  # type: ignore[attr-defined]
            begun = time.monotonic()
            with pytest.raises(OperationalError, match=f"process {pid} gave no answer"):
                ask(cursor)
            assert time.monotonic() - begun < 5
        fitted.close()  # type: ignore[attr-defined]
        assert pid_of(fitted) != pid


def test_what_is_limited_to_less_is_given_up_sooner_and_long_work_later() -> None:
    assert sessions._within.get() is None
    with sessions.answered_within(3):
        assert sessions._within.get() == 3
    # Longer than the server lets a statement last, or it would never say so itself.
    assert connections.ANSWERS_WITHIN_S > 60 and "statement_timeout=60s" in connections.LIMITS


@pytest.mark.django_db(transaction=True)
def test_long_work_is_waited_for_as_long_as_its_tasks_may_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "answers_within_s", 0.3)
    connection.close()
    with timeouts.long_work(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.6)")
    with pytest.raises(OperationalError, match="no answer"), connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.6)")
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_look_beside_has_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_LOOK_S", 0.3)
    with sessions.beside("test") as own, hung(own.info.backend_pid), pytest.raises(psycopg.OperationalError):
        own.execute("SELECT 1")
    with transaction.atomic():
        assert pid_of(connection)


@pytest.mark.django_db(transaction=True)
def test_a_session_that_takes_no_writes_is_given_up() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    with pytest.raises(InternalError) as refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE TABLE written (number int)")
    assert outage.is_unavailability(refused.value)
    assert outage.watch.concerns(refused.value)
    # As each request and task does at its end.
    connection.close_if_unusable_or_obsolete()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE TABLE written (number int)")
        transaction.set_rollback(True)


@pytest.mark.django_db(transaction=True)
def test_a_database_that_takes_no_writes_is_looked_at_until_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert outage._no_writes() is None
    beside = partial(sessions.beside, options="-c default_transaction_read_only=on")
    monkeypatch.setattr(sessions, "beside", beside)
    assert "takes no writes" in (outage.database_watch()._trouble() or "")
