"""The wall clock of this machine: noticed where it is set back, so that kept times lie ahead, or far ahead."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

# What lies further ahead than clocks of several machines differ was written before the clock was set back.
AHEAD = timedelta(minutes=1)
# Less is no step: clocks are led to the right time slowly, which the monotonic clock follows.
_LEAST_STEP_S = 2.0
# A step is told for so long (s): of one ahead nothing shows when it is over, one back may be over in years.
TOLD_FOR_S = 3600.0


@dataclass(frozen=True)
class SetBack:
    """The clock was set back by `by` at about `at` (its new time); until `until` it repeats times that have been."""

    at: datetime
    by: timedelta
    until: datetime


@dataclass(frozen=True)
class SetAhead:
    """The clock was set ahead by `by` at about `at` (its new time)."""

    at: datetime
    by: timedelta


def _since_start() -> float:
    """Return the time (s) since the machine started, its sleep included: to wake up is no step."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Since:
    """A moment of this process, told by the clock of whoever asks: it never lies ahead, however the clock was set."""

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = _since_start) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._at, self._lead_s = wall(), wall() - monotonic()

    def at(self) -> datetime:
        """Return when it was by today's clock."""
        now = self._wall()
        step_s = now - self._monotonic() - self._lead_s
        at = self._at if abs(step_s) < _LEAST_STEP_S else self._at + step_s
        return datetime.fromtimestamp(min(at, now), UTC)


def past(at: datetime | None) -> datetime | None:
    """Return a time that others kept of what has been; None if it lies AHEAD, for a wrong clock wrote it then."""
    now = datetime.now(UTC)
    return None if at is None or is_ahead(at, now) else min(at, now)


class WallClock:
    """Compares the wall clock with the monotonic one from look to look."""

    def __init__(
        self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self.begun = Since(wall, monotonic)
        self._difference_s, self._even_since = wall() - monotonic(), monotonic()
        # When it was set before the last time.
        self._stepped_at = self._even_since
        # With the monotonic time (s) at which it was seen, as the other.
        self._last: tuple[SetBack, float] | None = None
        self._first_difference_s = self._difference_s
        self._ahead: tuple[SetAhead, float] | None = None

    def stepped_back(self) -> timedelta | None:
        """Return by how much it was set back since the last look, None if it was not."""
        with self._lock:
            now, step_s = self._look()
            if step_s > -_LEAST_STEP_S:
                return None
            at, by = datetime.fromtimestamp(now, UTC), timedelta(seconds=-step_s)
            until = at + by
            # Set back twice, it has the first way to go again, too.
            if self._last is not None and self._last[0].until > until:
                until = self._last[0].until
            # Put right within a moment, it was hardly ahead: of those seconds nothing is to be told.
            is_right_again = abs(self._difference_s - self._first_difference_s) < _LEAST_STEP_S
            if not (is_right_again and self._monotonic() - self._stepped_at < AHEAD.total_seconds()):
                self._last = SetBack(at, by, until), self._monotonic()
            return by

    def even_now(self, for_s: float) -> datetime | None:
        """Look, and return the time, None if the clock was set, or the process began, less than so long (s) ago."""
        with self._lock:
            now, _step_s = self._look()
            is_even = self._monotonic() - self._even_since >= for_s
            return datetime.fromtimestamp(now, UTC) if is_even else None

    def _look(self) -> tuple[float, float]:
        """Return the time, and by how much (s) it was set ahead since the last look."""
        now, monotonic = self._wall(), self._monotonic()
        before, self._difference_s = self._difference_s, now - monotonic
        step_s = self._difference_s - before
        if abs(step_s) >= _LEAST_STEP_S:
            self._stepped_at, self._even_since = self._even_since, monotonic
        self._note_lead(now)
        return now, step_s

    def set_back(self) -> SetBack | None:
        """Look, and return the last step back while the clock shows times that have been; for TOLD_FOR_S at most.

        A machine may start with a clock that is years ahead: once it is right, all is well.
        """
        self.stepped_back()
        if self._last is None or self._monotonic() - self._last[1] > TOLD_FOR_S:
            return None
        last, _at = self._last
        return last if self._wall() < last.until.timestamp() else None

    def _note_lead(self, now: float) -> None:
        """Keep that the clock is ahead of where it would be without its steps, or that it is no more."""
        lead_s = self._difference_s - self._first_difference_s
        if lead_s < AHEAD.total_seconds():
            self._ahead = None
        elif self._ahead is None:
            ahead = SetAhead(datetime.fromtimestamp(now, UTC), timedelta(seconds=lead_s))
            self._ahead = ahead, self._monotonic()

    def set_ahead(self) -> SetAhead | None:
        """Look, and return how the clock was set ahead since the process began, if it still is, for TOLD_FOR_S."""
        self.stepped_back()
        if self._ahead is None or self._monotonic() - self._ahead[1] > TOLD_FOR_S:
            return None
        return self._ahead[0]


# Of this process, from its start.
wall = WallClock(monotonic=_since_start)


def is_ahead(at: datetime, now: datetime) -> bool:
    """Return whether a kept time was written before the clock was set back: it lies AHEAD of `now`."""
    return at > now + AHEAD
