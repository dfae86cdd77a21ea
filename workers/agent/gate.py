"""Processes that are there before their instant and begin at it: what they wait for is the kernel's timer alone."""

from __future__ import annotations

import os
import struct
import time

from . import steady

# So long before its instant (s) a process is made, which takes some milliseconds that would otherwise be late ones.
AHEAD_S = 0.1
_TIME = struct.Struct("=d")


class Gate:
    """Holds a forked child until `at` (s since the epoch, our clock), and tells its parent when it let it go."""

    def __init__(self, at: float) -> None:
        # Whoever makes it has waited: should the server's clock be set just now, nothing is held for longer.
        self._at = min(at, steady.now() + AHEAD_S)
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)

    def hold(self) -> None:
        """Wait; called in the child, which may take no locks."""
        while True:
            left = self._at - steady.now()
            if left <= 0:
                break
            time.sleep(left)
        os.write(self._write, _TIME.pack(steady.now()))

    def passed_at(self) -> float | None:
        """Return when the child went on (s since the epoch), None if it did not say."""
        try:
            packed_time = os.read(self._read, _TIME.size)
        except BlockingIOError:
            return None
        finally:
            os.close(self._read)
            os.close(self._write)
        return float(_TIME.unpack(packed_time)[0]) if len(packed_time) == _TIME.size else None
