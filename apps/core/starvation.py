"""Whether this web process gets no connection any more although the database has some, or hears no agent any more.

Then only its end helps.
"""

import threading
import time
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from apps.core import outage

# For so long none was free and none was given out (s): readers are told; whoever supervises the process ends it.
# A page keeps its connection for 60 s at most (core.connections.LIMITS), a download only one of the third of them.
TOLD_AFTER_S, ENDS_AFTER_S = 15.0, 90.0


class Pool:
    """What was seen of the pool at each look."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun: float | None = None
        self._given_out = 0

    def since(self, *, longer_than_s: float) -> datetime | None:
        """Return since when nobody gets a connection, if that is long enough and the database would give some."""
        pool = outage.pool()
        if pool is None:
            return None
        lasted = self._look(pool.get_stats())
        if lasted <= longer_than_s or not outage.gives_connections():
            return None
        return timezone.now() - timedelta(seconds=lasted)

    def _look(self, stats: dict[str, Any]) -> float:
        """Return for how many seconds none has been free and none given out."""
        failed = stats.get("requests_errors", 0) + stats.get("requests_waiting", 0)
        given_out = stats.get("requests_num", 0) - failed
        can_give = stats.get("pool_available", 0) > 0 or stats.get("pool_size", 0) < stats.get("pool_max", 0)
        now = time.monotonic()
        with self._lock:
            if can_give or given_out > self._given_out or self._begun is None:
                self._begun = now
            self._given_out = given_out
            return now - self._begun


class Lapse:
    """For how long something has not happened in this process that happens every few seconds once it was noted."""

    def __init__(self) -> None:
        self._last: float | None = None

    def note(self) -> None:
        """Note that it happened, or begins to."""
        self._last = time.monotonic()

    def since(self, *, longer_than_s: float) -> datetime | None:
        """Return since when it has not, if that is long enough."""
        lasted = 0.0 if self._last is None else time.monotonic() - self._last
        return timezone.now() - timedelta(seconds=lasted) if lasted > longer_than_s else None


of_process = Pool()
# That somebody listens to agents was written; and that this was tried, whatever came of it: what a database refuses
# or is away for, another process could not write either.
heard, tried_to_hear = Lapse(), Lapse()
