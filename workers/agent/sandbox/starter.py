"""The thread that starts a job's process: confined itself, it hands that on, and lives as long as that does."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable


class Starter(threading.Thread):
    """Starts one process from a thread that `enter` confines first.

    Confinement is a thread's, so that the agent itself stays free; and a child's death signal follows the thread that
    made it, which therefore waits for `release`.
    """

    def __init__(self, enter: Callable[[], None], start: Callable[[], subprocess.Popen[bytes]]) -> None:
        super().__init__(name="starter", daemon=True)
        self._enter, self._start_process = enter, start
        self._is_made, self._may_end = threading.Event(), threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._error: Exception | None = None

    def run(self) -> None:
        """Confine this thread, start the process, and stay."""
        try:
            self._enter()
            self._process = self._start_process()
        except Exception as error:
            self._error = error
        self._is_made.set()
        if self._process is not None:
            self._may_end.wait()

    def process(self) -> subprocess.Popen[bytes]:
        """Start it and return it; whatever went wrong is raised here."""
        self.start()
        self._is_made.wait()
        if self._error is not None:
            raise self._error
        assert self._process is not None
        return self._process

    def release(self) -> None:
        """Let the thread go, once the process has ended."""
        self._may_end.set()
