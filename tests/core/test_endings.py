"""What a request begins ends with it, also when its reader goes before there is a response."""

import asyncio
import contextlib
import contextvars
import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction
from django.http import StreamingHttpResponse
from django.test import AsyncRequestFactory

from apps.core import downloads, endings, streams, web


def transactions() -> int:
    """Return how many transactions of others are open and idle in this database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid != pg_backend_pid()"
            " AND state LIKE 'idle in transaction%%'"
        )
        return int(cursor.fetchone()[0])


class Download:
    """A view that sends from a transaction, and takes its time before it answers."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.begun = threading.Event()
        self.ended = threading.Event()
        # What is lost is referred to for ever, as by a cycle that is not collected.
        self.lost: list[StreamingHttpResponse] = []

    def pieces(self) -> Iterator[bytes]:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SELECT 1")
                yield b"0"
                yield b"1"
        finally:
            self.ended.set()

    def view(self) -> None:
        self.lost.append(streams.send(AsyncRequestFactory().get("/"), self.pieces, name="a.zip", kind="text/csv"))
        self.begun.set()
        assert self.may_answer.wait(20)


async def nothing(*_arguments: Any) -> None:
    """Take or send nothing."""


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_over", [True, False], ids=["request over before the file is begun", "view goes on"])
async def test_a_reader_who_goes_before_the_response_leaves_nothing_behind(
    is_over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "anonymous", downloads.Places(1))
    download = Download()
    threads: list[threading.Thread] = []

    async def pages(_scope: Any, _receive: Any, _send: Any) -> None:
        if not is_over:
            await sync_to_async(download.view, thread_sensitive=False)()
            return
        # Its request ends first: the thread of a view cannot be stopped.
        context = contextvars.copy_context()
        threads.append(threading.Thread(target=context.run, args=(download.view,)))

    gc.disable()
    try:
        request = asyncio.ensure_future(web.ReturningConnections(pages)({}, nothing, nothing))
        if is_over:
            await request
            threads[0].start()
        assert await asyncio.to_thread(download.begun.wait, 20)
        request.cancel()
        download.may_answer.set()
        with pytest.raises(asyncio.CancelledError) if not is_over else contextlib.nullcontext():
            await request
        assert await asyncio.to_thread(download.ended.wait, 20)
        for _look in range(400):
            if not downloads.anonymous._taken:
                break
            await asyncio.sleep(0.05)
        else:
            raise AssertionError("no place was given back")
        assert await sync_to_async(transactions)() == 0
    finally:
        gc.enable()


@pytest.mark.django_db(transaction=True)
async def test_a_response_that_nobody_takes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "STALL_S", 0.05)
    monkeypatch.setattr(downloads, "anonymous", downloads.Places(1))
    download = Download()
    download.may_answer.set()
    await sync_to_async(download.view)()
    assert await asyncio.to_thread(download.ended.wait, 20)
    with pytest.raises(streams.Stalled):
        await anext(aiter(download.lost[0].streaming_content))


def test_ends_are_called_once_the_last_first_and_at_once_when_it_is_late() -> None:
    called: list[str] = []
    with endings.called():
        endings.at_end(lambda: called.append("first"))
        endings.at_end(lambda: called.append("last"))
        late = contextvars.copy_context()
    assert called == ["last", "first"]
    late.run(endings.at_end, lambda: called.append("late"))
    endings.at_end(lambda: called.append("outside"))
    assert called == ["last", "first", "late"]
