"""How often what a team's agents send is refused: whoever sends nothing else takes no processor for it."""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from apps.agents.endpoint.room import Problem


class Refusals:
    """Counts refusals of each team in this process; after `most` within `window_s` nothing more is looked at."""

    def __init__(self, *, most: int, window_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._window_s, self._clock = most, window_s, clock
        self._times: defaultdict[int, deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()

    @contextmanager
    def counted(self, team: int) -> Iterator[None]:
        """Count a Problem that comes of the block; Problem 503 in its place where there were too many lately."""
        if (wait_s := self._wait_of(team)) > 0:
            text = "This team's agents sent too much that could not be read: send it again later."
            raise Problem(503, "unavailable", text, retry_after_s=int(wait_s) + 1)
        try:
            yield
        except Problem:
            with self._lock:
                self._times[team].append(self._clock())
            raise

    def _wait_of(self, team: int) -> float:
        """Return how long (s) nothing of a team is looked at, 0 or less if it is."""
        with self._lock:
            times, now = self._times.get(team), self._clock()
            while times and times[0] <= now - self._window_s:
                times.popleft()
            if not times:
                self._times.pop(team, None)
                return 0.0
            return times[0] + self._window_s - now if len(times) >= self._most else 0.0
