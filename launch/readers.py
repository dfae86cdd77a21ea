"""How long whoever reads an answer may keep a connection waiting: the same as for downloads (apps.core.downloads)."""

import time
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable
from typing import Any

# A reader who takes nothing for so long is given up (s); in all it may keep so long (s), and longer by what it took
# at this rate (B/s).
STALL_S = 45.0
GRACE_S = 60.0
LEAST_RATE = 128 * 1024
# How often it is looked at (s).
LOOK_S = 5.0


class Reader:
    """Looks at what of an answer still waits to be taken, and calls `give_up` when that takes too long."""

    def __init__(self, loop: AbstractEventLoop, transport: Any, give_up: Callable[[], None]) -> None:
        self._loop, self._transport, self._give_up = loop, transport, give_up
        self._timer: TimerHandle | None = None
        self.begin_answer()

    def begin_answer(self) -> None:
        """Count anew: each answer has its time."""
        self._waited_s, self._taken_bytes = 0.0, 0
        self._left, self._since = 0, time.monotonic()

    def look(self) -> None:
        """Note what was taken since the last look, and give up, or look again while something waits."""
        self.forget()
        now, left = time.monotonic(), int(self._transport.get_write_buffer_size())
        if taken := max(0, self._left - left):
            self._taken_bytes += taken
            self._waited_s += now - self._since
        if taken or not self._left or left > self._left:
            self._since = now
        self._left = left
        if not left:
            return
        still_s = self._left_s() - (now - self._since)
        if still_s <= 0:
            self._give_up()
        else:
            self._timer = self._loop.call_later(min(still_s, LOOK_S), self.look)

    def forget(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _left_s(self) -> float:
        return min(STALL_S, GRACE_S + self._taken_bytes / LEAST_RATE - self._waited_s)
