"""Threads that requests are answered in, one for each: they stay when a request ends, for the next.

To start one, the loop waits until it runs, behind all threads that do: with hundreds of requests under way each start
is a tenth of a second in which nobody is answered.
"""

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
# More than a handful of browsers use at once; one that waits takes some tens of KiB.
_MOST_IDLE = 32


class RequestThreads:
    """Threads that wait for a request, the one that was used last in front."""

    def __init__(self, most_idle: int = _MOST_IDLE) -> None:
        self._most_idle = most_idle
        self._idle: list[ThreadPoolExecutor] = []

    def take(self) -> ThreadPoolExecutor:
        """Return a thread that nobody uses; it starts with the first call if there is none."""
        return self._idle.pop() if self._idle else ThreadPoolExecutor(1, thread_name_prefix="request")

    def put(self, thread: ThreadPoolExecutor) -> None:
        """Keep a thread for the next request, or end it if enough wait."""
        if len(self._idle) < self._most_idle:
            self._idle.append(thread)
        else:
            thread.shutdown(wait=False)


class RequestThread(Executor):
    """The thread of one request, which has none before its first call; calls run one after the other."""

    def __init__(self, threads: RequestThreads | None = None) -> None:
        self._threads = threads or of_process
        self._thread: ThreadPoolExecutor | None = None
        self._last: Future[Any] | None = None

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Have a function called in the thread."""
        if self._thread is None:
            self._thread = self._threads.take()
        future = self._thread.submit(function, *args, **kwargs)
        self._last = future
        return future

    def close(self) -> None:
        """Leave the thread to the next request, once what was begun in it has ended: no thread can be stopped."""
        thread, last = self._thread, self._last
        self._thread = self._last = None
        if thread is not None and last is not None:
            last.add_done_callback(lambda _last: self._threads.put(thread))


of_process = RequestThreads()
# That of the request that is answered.
of_request: ContextVar[RequestThread | None] = ContextVar("thread of the request", default=None)


def leave() -> None:
    """Leave the request's thread to others: nothing is asked any more, and its reader may be slow."""
    if thread := of_request.get():
        thread.close()
