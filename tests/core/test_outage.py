"""While the database is away, or too busy, every answer is 503 in words, and it is looked at until it is back."""

import logging
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import kombu.exceptions
import psycopg
import pytest
import redis
from django.db import IntegrityError, InterfaceError, InternalError, OperationalError, connection
from django.test import Client
from django.utils import timezone
from psycopg_pool import PoolTimeout

from apps.core import clock, outage, outage_watch
from tests.core import broken

REFUSED = OperationalError("could not connect")


def caused_by(error: Exception, cause: Exception) -> Exception:
    """Return what Django raises for an error of the driver."""
    error.__cause__ = cause
    return error


UNAVAILABLE = [
    REFUSED,
    InterfaceError("the connection is closed"),
    caused_by(OperationalError(), PoolTimeout("no connection after 5 s")),
    caused_by(OperationalError(), psycopg.errors.AdminShutdown()),
    caused_by(OperationalError(), psycopg.errors.LockNotAvailable()),
    caused_by(OperationalError(), psycopg.errors.QueryCanceled()),
    caused_by(OperationalError(), psycopg.errors.TooManyConnections()),
    caused_by(InternalError(), psycopg.errors.IdleInTransactionSessionTimeout()),
    caused_by(InternalError(), psycopg.errors.ReadOnlySqlTransaction()),
    psycopg.OperationalError("from a copy"),
    redis.ConnectionError("refused"),
    redis.TimeoutError("slow"),
    kombu.exceptions.OperationalError("the broker is away"),
    outage.Busy("Too many at once."),
]


@pytest.mark.parametrize("error", [psycopg.errors.TooManyColumns(), psycopg.errors.StatementTooComplex()])
def test_what_no_database_can_do_is_a_fault_of_ours(error: psycopg.Error) -> None:
    assert not outage.is_unavailability(caused_by(OperationalError(), error))


def is_over(watch: outage_watch.Watch) -> bool:
    """Say whether nobody looks any more, and the log tells so: that is the last that the thread does."""
    return all(thread.name != f"outage of {watch.name}" for thread in threading.enumerate())


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[BaseException]]:
    """Return the list whose first error the pages of tests.core.broken raise."""
    errors: list[BaseException] = []
    monkeypatch.setattr(broken, "errors", errors)
    monkeypatch.setattr(outage.watch, "note", lambda error: None)
    yield errors


@pytest.mark.urls("tests.core.broken")
@pytest.mark.parametrize("error", UNAVAILABLE, ids=repr)
def test_a_page_and_its_rest_twin_answer_503_in_words(failing: list[BaseException], error: Exception) -> None:
    failing.append(error)
    client = Client(raise_request_exception=False)
    page = client.get("/raise/")
    assert (page.status_code, page.headers["Retry-After"]) == (503, "5")
    assert "Not available at this moment" in page.content.decode()
    for address in ("/api/raise/", "/api/view/"):
        rest = client.get(address)
        assert (rest.status_code, rest.headers["Retry-After"]) == (503, "5")
        assert set(rest.json()) == {"detail", "fields"}
        assert (rest.json()["detail"] == "Too many at once.") == isinstance(error, outage.Busy)


@pytest.mark.urls("tests.core.broken")
@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (psycopg.errors.LockNotAvailable(), "holds what this needs locked"),
        (psycopg.errors.QueryCanceled(), "too long"),
    ],
    ids=repr,
)
def test_a_lock_or_a_long_question_is_named(failing: list[BaseException], cause: psycopg.Error, words: str) -> None:
    failing.append(caused_by(OperationalError(), cause))
    client = Client(raise_request_exception=False)
    for address in ("/raise/", "/api/raise/", "/api/view/"):
        assert words in client.get(address).content.decode()


@pytest.mark.urls("tests.core.broken")
@pytest.mark.parametrize("error", [ValueError("ours"), InternalError("odd"), IntegrityError("twice")], ids=repr)
def test_a_fault_of_ours_stays_500(failing: list[BaseException], error: Exception) -> None:
    failing.append(error)
    assert Client(raise_request_exception=False).get("/raise/").status_code == 500


@pytest.mark.django_db
def test_while_it_is_known_to_be_away_nothing_is_asked_of_it(
    client: Client, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(outage.watch, "_away", clock.Since())
    client.cookies["sessionid"] = "somebody"
    with django_assert_num_queries(0):
        for address in ("/", "/campaigns/", "/accounts/login/", "/api/v1/campaigns/", "/nowhere/", "/admin/"):
            answer = client.get(address, headers={"accept-language": "ko"})
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5"), address
        assert "지금은 이용할 수 없습니다" in client.get("/", headers={"accept-language": "ko"}).content.decode()
        assert client.get("/health/").status_code == 503
        assert client.get("/health/live/").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_it_is_looked_at_until_it_is_back(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    answers = iter([False, False, True])
    renewed: list[bool] = []
    monkeypatch.setattr(outage, "_answers", lambda: next(answers))
    monkeypatch.setattr(outage, "_renew_pool", lambda: renewed.append(True))
    monkeypatch.setattr(outage_watch, "LOOK_EVERY_S", 0.05)
    watch = outage.database_watch()
    before = timezone.now()
    watch.note(REFUSED)
    wait_for(lambda: watch.away_since is not None)
    assert watch.away_since and watch.away_since >= before
    with pytest.raises(outage.Outage):
        watch.refuse()
    wait_for(lambda: is_over(watch))
    assert watch.away_since is None
    assert renewed == [True]
    watch.refuse()
    assert "The database does not work" in caplog.text
    assert "The database works again" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_lock_or_a_fault_of_ours_makes_nobody_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "_answers", lambda: pytest.fail("looked"))
    watch = outage.database_watch()
    for error in (
        caused_by(OperationalError(), psycopg.errors.DeadlockDetected()),
        caused_by(OperationalError(), psycopg.errors.LockNotAvailable()),
        ValueError("ours"),
        redis.ConnectionError("the broker's"),
    ):
        watch.note(error)
    assert not watch._is_looking


@pytest.mark.django_db(transaction=True)
def test_a_server_that_answers_is_not_away(monkeypatch: pytest.MonkeyPatch) -> None:
    assert outage._answers()
    nowhere = {**connection.get_connection_params(), "host": "/nowhere"}
    monkeypatch.setattr(connection, "get_connection_params", lambda: nowhere)
    assert not outage._answers()


def wait_for(condition: Any) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def logged_of(watch: outage_watch.Watch, error: BaseException, *, again: int) -> list[str]:
    """Return what a console shows that is told of an error and, while that is looked into, of so many like it."""
    shown: list[str] = []

    class Console(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            shown.append(f"{record.getMessage()}{' with its trace' if record.exc_info else ''}")

    console, log = Console(), logging.getLogger("tests.outage")
    console.addFilter(outage.OneLineEach())
    places = (log, outage_watch.logger)
    for place in places:
        place.addHandler(console)
    # The test run's own console counts what it leaves out, too.
    log.propagate = False
    try:
        for _time in range(again + 1):
            try:
                raise error
            except BaseException:
                log.exception("It failed")
        wait_for(lambda: is_over(watch))
    finally:
        log.propagate = True
        for place in places:
            place.removeHandler(console)
    return shown


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("watch", REFUSED),
        ("watch", caused_by(ValueError("while it was told"), REFUSED)),
        ("broker_watch", redis.ConnectionError("refused")),
        ("broker_watch", redis.ResponseError("MISCONF Errors writing to the AOF file")),
        ("broker_watch", kombu.exceptions.OperationalError("refused")),
    ],
    ids=str,
)
def test_an_outage_is_one_line_at_its_begin_and_one_at_its_end(
    monkeypatch: pytest.MonkeyPatch, name: str, error: Exception
) -> None:
    looks = iter(["no answer", "no answer", "no answer", None])
    watch = outage_watch.Watch("It", concerns=getattr(outage, name).concerns, trouble=lambda: next(looks))
    monkeypatch.setattr(outage, name, watch)
    monkeypatch.setattr(outage_watch, "LOOK_EVERY_S", 0.2)
    first, last = logged_of(watch, error, again=50)
    assert first == "It does not work: no answer"
    assert last.startswith("It works again after 0.")
    assert last.endswith("lines of it left out of this log: 51")


def test_what_is_no_outage_is_logged_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = outage_watch.Watch("It", concerns=outage.watch.concerns, trouble=lambda: None)
    monkeypatch.setattr(outage, "watch", watch)
    assert logged_of(watch, REFUSED, again=3) == ["It failed with its trace"] * 4
    assert logged_of(watch, ValueError("ours"), again=0) == ["It failed with its trace"]


def test_a_fork_in_an_outage_looks_by_itself() -> None:
    watch = outage_watch.Watch("It", concerns=lambda error: True, trouble=lambda: "away")
    watch._is_looking = True
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, b"looks" if not watch._is_looking else b"waits")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 5) == b"looks"
    os.close(reader)
    os.close(writer)
