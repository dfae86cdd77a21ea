"""A dead man's switch: settings may cut their node off, so they stay only as long as its server is heard."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..process import Process

# The fault of a job whose settings were put back for that.
UNHEARD = "server-unheard"
# Longer (s) than a poll (20 s), a restart of the server of a minute, and the way back to it take together.
MOST_SILENCE_S = 180.0
LOOK_EVERY_S = 1.0


class Switch(threading.Thread):
    """Stops the job that holds settings once `silence_s()`, the time since the server was heard, is too long."""

    def __init__(self, process: Process, silence_s: Callable[[], float]) -> None:
        super().__init__(name=f"silence-{process.pid}", daemon=True)
        self._process, self._silence_s = process, silence_s
        self._silent_for_s = 0.0

    def run(self) -> None:
        """Look until the job is over, or has to be."""
        while not self._process.is_over_within(LOOK_EVERY_S):
            silence_s = self._silence_s()
            if silence_s > MOST_SILENCE_S:
                self._silent_for_s = silence_s
                self._process.stop()
                return

    def fault(self) -> tuple[str, str]:
        """Return the fault of the job, which is over, with its words; ("", "") if the server was heard."""
        if not self._silent_for_s:
            return "", ""
        seconds = f"{self._silent_for_s:.0f} s"
        text = f"the node heard nothing of its server for {seconds} while these settings were in force"
        return UNHEARD, f"{text}: they were put back" if self._process.exit_code == 0 else text
