"""Disks that may cease to answer: what touches one is done in a thread of its own, and waited for only so long.

A process that waits for a hung file system cannot be woken, not even by SIGKILL. So nothing that has to go on (the
polls, the time limits of jobs) touches a disk by itself.
"""

from __future__ import annotations

import collections
import errno
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")

# A disk that has not done something after this time (s) counts as hung.
HUNG_AFTER_S = 10.0


class Hung(OSError):
    """A disk that has not done what was asked of it in time; it may do it still."""

    def __init__(self) -> None:
        super().__init__(errno.ETIMEDOUT, "the disk does not answer")


class Task(Generic[T]):
    """Something that a disk's thread does, and what came of it."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._is_over = threading.Event()
        self._result: T | None = None
        self._error: BaseException | None = None

    @property
    def is_over(self) -> bool:
        """Return whether it is done, or has failed."""
        return self._is_over.is_set()

    def carry_out(self) -> None:
        """Do the work, and keep what it returned or raised for `result`."""
        try:
            self._result = self._work()
        except BaseException as error:
            self._error = error
        self._is_over.set()

    def result(self, patience_s: float) -> T:
        """Return what it returned, or raise what it raised; Hung if it takes longer than the patience (s)."""
        if not self._is_over.wait(patience_s):
            raise Hung
        if self._error is not None:
            raise self._error
        return cast("T", self._result)


class Disk:
    """The work of one thread on a disk, in the order in which it was asked for; there is a thread only meanwhile."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tasks: collections.deque[Task[Any]] = collections.deque()
        # When (monotonic, s) the task under way was begun; None if there is none.
        self._busy_since: float | None = None

    def begin(self, work: Callable[[], T]) -> Task[T]:
        """Have something done after all that was asked for before, and do not wait for it."""
        task = Task(work)
        with self._lock:
            self._tasks.append(task)
            is_idle = self._busy_since is None
            if is_idle:
                self._busy_since = time.monotonic()
        if is_idle:
            threading.Thread(target=self._work_off, name="disk", daemon=True).start()
        return task

    def do(self, work: Callable[[], T], patience_s: float | None = None) -> T:
        """Return what `work` returns, or raise what it raises; Hung after `patience_s`, as `wait` does.

        What is late is not given up: the disk does it when it answers again.
        """
        return self.wait(self.begin(work), patience_s)

    def wait(self, task: Task[T], patience_s: float | None = None) -> T:
        """Return what came of a task; Hung after `patience_s` (HUNG_AFTER_S), at once if the disk hangs already."""
        return task.result(0.0 if self.is_hung() else HUNG_AFTER_S if patience_s is None else patience_s)

    def is_hung(self) -> bool:
        """Return whether what is under way has taken too long."""
        since = self._busy_since
        return since is not None and time.monotonic() - since > HUNG_AFTER_S

    def _work_off(self) -> None:
        while True:
            with self._lock:
                if not self._tasks:
                    self._busy_since = None
                    return
                task = self._tasks.popleft()
                self._busy_since = time.monotonic()
            task.carry_out()


class Errand(Generic[T]):
    """What is done on a disk again and again, but not anew while the last time is not over."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._task: Task[T] | None = None

    def do(self, work: Callable[[], T], patience_s: float = 1.0) -> T:
        """Return what `work` returns, or raise what it raises; Hung if it, or that of the last time, is not over."""
        task = self._task
        if task is None:
            task = self._task = self._disk.begin(work)
        try:
            return task.result(patience_s)
        finally:
            if task.is_over:
                self._task = None
