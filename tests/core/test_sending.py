"""What is sent is made piece by piece in one thread, and no further once its reader is gone."""

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest
from django.db import OperationalError, connection
from django.http import HttpRequest
from django.test import AsyncRequestFactory, RequestFactory

from apps.core import downloads, outage, streams
from apps.core.streams import send


class Source:
    """Gives three pieces, and notes where it was asked for them and whether it was ended."""

    def __init__(self) -> None:
        self.threads: list[int] = []
        self.ended = threading.Event()

    def pieces(self) -> Iterator[bytes]:
        try:
            for number in range(3):
                self.threads.append(threading.get_ident())
                yield b"%d" % number
        finally:
            self.ended.set()


async def test_under_asgi_each_piece_is_made_by_one_thread_of_its_own() -> None:
    source = Source()
    answer = send(AsyncRequestFactory().get("/"), source.pieces, name="a.csv", kind="text/csv", reads_database=False)
    assert [piece async for piece in answer.streaming_content] == [b"0", b"12"]
    assert len(set(source.threads)) == 1
    assert threading.get_ident() not in source.threads
    assert answer["Content-Disposition"] == 'attachment; filename="a.csv"'


@pytest.mark.django_db(transaction=True)
async def test_what_breaks_the_first_piece_is_no_answer_that_breaks_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "anonymous", downloads.Places(1))

    def pieces() -> Iterator[bytes]:
        raise OperationalError("no connection is free")
        yield b""

    # Twice: its place is given back.
    for _time in range(2):
        with pytest.raises(OperationalError):
            send(AsyncRequestFactory().get("/"), pieces, name="a.csv", kind="text/csv")
        await_slot()


async def test_a_reader_who_goes_away_ends_the_making() -> None:
    source = Source()
    answer = send(AsyncRequestFactory().get("/"), source.pieces, name="a.csv", kind="text/csv", reads_database=False)
    assert await anext(aiter(answer.streaming_content)) == b"0"
    answer.close()
    assert source.ended.wait(20)
    assert len(source.threads) == 1


def test_under_wsgi_the_caller_makes_them() -> None:
    source = Source()
    request: HttpRequest = RequestFactory().get("/")
    answer = send(request, source.pieces, name="a.csv", kind="text/csv", reads_database=False)
    assert b"".join(answer.streaming_content) == b"012"
    assert set(source.threads) == {threading.get_ident()}


def timeouts() -> Iterator[bytes]:
    """Give the limit of statements in force, twice."""
    for _piece in range(2):
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            yield str(cursor.fetchone()[0]).encode()


@pytest.mark.django_db(transaction=True)
async def test_so_many_files_are_sent_at_once_that_pages_keep_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "WAIT_S", 0.05)
    monkeypatch.setattr(downloads, "anonymous", downloads.Places(1))
    request = AsyncRequestFactory().get("/")
    other = AsyncRequestFactory().get("/")
    other.META["REMOTE_ADDR"] = "192.0.2.9"
    first = send(request, timeouts, name="a.csv", kind="text/csv")
    with pytest.raises(outage.Busy, match="Try again in a minute"):
        send(other, timeouts, name="b.csv", kind="text/csv")
    # What does not ask the database takes nobody's connection, but memory.
    monkeypatch.setattr(downloads, "outputs_of_anonymous", downloads.Places(1))
    output = send(request, lambda: iter([b"0"]), name="c.txt", kind="text/plain", reads_database=False)
    with pytest.raises(outage.Busy, match="Try again in a minute"):
        send(other, lambda: iter([b"0"]), name="c.txt", kind="text/plain", reads_database=False)
    output.close()
    # A large file takes as long as it takes.
    assert [piece async for piece in first.streaming_content] == [b"0", b"0"]
    first.close()
    await_slot()


@pytest.mark.django_db(transaction=True)
async def test_one_that_fails_on_its_way_gives_its_place_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> Iterator[bytes]:
        yield b"0"
        raise ValueError("on its way")

    monkeypatch.setattr(downloads, "anonymous", downloads.Places(1))
    answer = send(AsyncRequestFactory().get("/"), failing, name="a.csv", kind="text/csv")
    with pytest.raises(ValueError, match="on its way"):
        _pieces = [piece async for piece in answer.streaming_content]
    await_slot()


async def test_a_reader_who_takes_nothing_for_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "STALL_S", 0.05)
    source = Source()
    answer = send(AsyncRequestFactory().get("/"), source.pieces, name="a.csv", kind="text/csv", reads_database=False)
    pieces = aiter(answer.streaming_content)
    assert await anext(pieces) == b"0"
    for _look in range(400):
        if source.ended.is_set():
            break
        await asyncio.sleep(0.05)
    assert source.ended.is_set()
    with pytest.raises(streams.Stalled):
        await anext(pieces)


def await_slot() -> None:
    """Return when a file can be sent again; its thread gives the place back after the answer is closed."""
    for _look in range(400):
        if not downloads.anonymous._taken:
            return
        time.sleep(0.05)
    raise AssertionError("no place was given back")
