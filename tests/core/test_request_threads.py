"""A request's thread is there for the next one when the request ends: to start one keeps the whole loop waiting."""

import asyncio
import threading
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from apps.core import request_threads, web
from apps.core.request_threads import RequestThread, RequestThreads


def test_requests_that_follow_each_other_have_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_threads, "of_process", RequestThreads())
    used: list[int] = []

    async def pages(_scope: Any, _receive: Any, _send: Any) -> None:
        for _call in range(2):
            used.append(await sync_to_async(threading.get_ident)())

    async def scenario() -> None:
        around = web.ReturningConnections(pages)
        for _request in range(3):
            await around({}, None, None)
        await asyncio.gather(*(around({}, None, None) for _request in range(2)))

    asyncio.run(scenario())
    assert len(set(used[:6])) == 1
    assert len(set(used)) == 2
    assert threading.get_ident() not in used


def test_whoever_asks_for_no_thread_takes_none() -> None:
    threads = RequestThreads()
    RequestThread(threads).close()
    assert threads._idle == []


def test_a_thread_at_work_is_given_to_nobody_else() -> None:
    threads, goes_on = RequestThreads(), threading.Event()
    thread = RequestThread(threads)
    work = thread.submit(goes_on.wait, 20)
    thread.close()
    assert threads._idle == []
    goes_on.set()
    assert work.result(20)
    thread.submit(lambda: None).result(20)
    thread.close()
    for idle in threads._idle:
        idle.shutdown()
    assert len(threads._idle) in (1, 2)


def test_more_than_are_wanted_end() -> None:
    threads = RequestThreads(most_idle=1)
    both = [RequestThread(threads) for _number in range(2)]
    for thread in both:
        thread.submit(lambda: None).result(20)
    for thread in both:
        thread.close()
    assert len(threads._idle) == 1
    threads._idle[0].shutdown()
