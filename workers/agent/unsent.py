"""The reports that are still to be sent: each waits for itself, so that one that is lost is passed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from . import steady
from .backoff import Backoff
from .spool import Record

# News that nobody's next step waits for is kept back so long, for the news that follows it makes it needless.
LULL_S = 0.05
# Waits after the losses of one report (s): from, to.
FIRST_WAIT_S, LONGEST_WAIT_S = 2.0, 60.0
# After so many losses a report is told as stuck; and after so many its size may be the reason, and it is shortened.
STUCK_AFTER, SHORTEN_AFTER = 2, 4
# Of outputs larger than this (as they travel, bytes) nobody knows how long they take.
LARGE = 256 * 1024
# A report that is older (s) is told of with each poll.
TELL_AFTER_S = 5.0
_MOST_AGE_S = 365 * 86400.0


class Entry:
    """A record to be reported: when it is due (monotonic, s), and what came of the tries so far."""

    def __init__(self, record: Record, due: float) -> None:
        self.record, self.due = record, due
        # Whether it is being sent, and whether there was news of it since that began.
        self.is_under_way = self.is_renewed = False
        self.losses = 0
        # Those for which its size may be the reason, and how far it was shortened for being too large.
        self.losses_of_size = 0
        self.cuts = 0
        # What is left to be done with the record once its end was answered: that is not sent again if the disk fails.
        self.put_away: Callable[[Record], None] | None = None
        self.reason = ""
        self._backoff = Backoff(LONGEST_WAIT_S, FIRST_WAIT_S)

    @property
    def is_slow(self) -> bool:
        """Return whether others should not have to wait for it."""
        return self.losses > 0 or _weight(self.record.facts) > LARGE

    def lose(self, reason: str, *, may_be_size: bool) -> float:
        """Note that it was lost for a reason; return how long (s) it waits now."""
        self.losses += 1
        self.losses_of_size += may_be_size
        self.reason = reason
        wait = self._backoff.next()
        self.due = time.monotonic() + wait
        return wait


class Unsent:
    """All of them, for the threads that make, send and tell of them."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._condition = threading.Condition()

    def put(self, record: Record, *, is_awaited: bool) -> None:
        """Have a record sent, after a lull unless it is awaited."""
        now = time.monotonic()
        with self._condition:
            entry = self._entries.setdefault(record.job_id, Entry(record, now + LULL_S))
            entry.record, entry.is_renewed = record, True
            entry.due = min(entry.due, now) if is_awaited else entry.due
            self._condition.notify_all()

    def take(self, *, is_slow: bool, patience_s: float = 1.0) -> Entry | None:
        """Return the entry that is due first, of the slow ones or the others; None if none is, or another may be."""
        with self._condition:
            waiting = [e for e in self._entries.values() if e.is_slow == is_slow and not e.is_under_way]
            entry = min(waiting, key=lambda one: one.due, default=None)
            left = entry.due - time.monotonic() if entry else patience_s
            if entry is None or left > 0:
                self._condition.wait(min(left, patience_s))
                return None
            entry.is_under_way, entry.is_renewed = True, False
            return entry

    def give_back(self, entry: Entry, *, is_done: bool = False) -> None:
        """Take back an entry that was sent, or not; it stays unless all of it is done, and no news came meanwhile."""
        with self._condition:
            entry.is_under_way = False
            if is_done and not entry.is_renewed:
                self._entries.pop(entry.record.job_id, None)
            self._condition.notify_all()

    def drain(self, timeout_s: float) -> None:
        """Have what was lost tried now, and wait until all is sent, or the time is up."""
        with self._condition:
            for entry in self._entries.values():
                entry.due = min(entry.due, time.monotonic()) if entry.losses else entry.due
            self._condition.notify_all()
            self._condition.wait_for(lambda: not self._entries, timeout_s)

    def oldest_s(self) -> float:
        """Return the age (s) of the oldest result that could not be sent yet, 0 if there is none to speak of."""
        with self._condition:
            unsent = [entry.record for entry in self._entries.values() if entry.put_away is None]
            ended = [record.facts.get("ended_at") for record in unsent]
        age = max((steady.now() - float(at) for at in ended if at is not None), default=0.0)
        return min(age, _MOST_AGE_S) if age > TELL_AFTER_S else 0.0

    def trouble(self) -> tuple[str, str] | None:
        """Return the code and the words of what is wrong, None if nothing is."""
        with self._condition:
            stuck = [entry for entry in self._entries.values() if entry.losses >= STUCK_AFTER]
            if not stuck:
                return None
            worst = max(stuck, key=lambda entry: entry.losses)
            words = f"job {worst.record.job_id}, lost {worst.losses} times: {worst.reason}"
        return "report-stuck", words if len(stuck) == 1 else f"{words} (and {len(stuck) - 1} more)"


def _weight(facts: dict[str, Any]) -> int:
    files = facts.get("collected") or ()
    return sum(len(facts.get(name) or "") for name in ("stdout", "stderr", "telemetry")) + sum(
        len(file["content"]) for file in files
    )
