"""An agent on this machine behind a line of ours, kept running as systemd keeps one: a second after it ended."""

import dataclasses
import threading
import time

from launch.local_agents import LocalAgent
from launch.process import Child
from tests.agent.relays import MessageProxy

RESTART_S = 1.0
# Python loads it before the agent: its clock is then the system's, moved by what a file says (s).
_MOVED = """
import pathlib, time
_real, _by = time.time, pathlib.Path({file!r})
def _moved():
    try:
        return _real() + float(_by.read_text())
    except (OSError, ValueError):
        return _real()
time.time = _moved
"""


class KeptAgent:
    """An enrolled agent, its line to the service, and the thread that starts it and starts it again."""

    def __init__(self, name: str, local: LocalAgent, line: MessageProxy) -> None:
        self.name = name
        self.local = local
        self.line = line
        self.child: Child | None = None
        self._may_run = threading.Event()
        self._is_over = threading.Event()
        self._clock = local.folder.parent / f"{name}-clock"
        self._clock.mkdir()
        (self._clock / "sitecustomize.py").write_text(_MOVED.format(file=str(self._clock / "by")))
        # It dies with the thread that started it, as it does with a supervisor.
        self._thread = threading.Thread(target=self._keep, name=f"keeps {name}", daemon=True)
        local.call_at(line.port)

    def start(self) -> None:
        """Start it, and again each time that it ends."""
        self._may_run.set()
        self._thread.start()

    def hold(self) -> None:
        """Start it no more until it is released."""
        self._may_run.clear()

    def release(self) -> None:
        """Start it, if it does not run, and again each time that it ends."""
        self._may_run.set()

    def set_clock(self, by_s: float) -> None:
        """Have the clock of its machine, as it sees it, be off by so much."""
        draft = self._clock / "draft"
        draft.write_text(str(by_s))
        draft.replace(self._clock / "by")

    def stop(self) -> None:
        """Stop it for good."""
        self._is_over.set()
        self._may_run.set()
        self._thread.join(30)
        self.line.close()

    @property
    def pid(self) -> int:
        """Return its process number; waits for it to run."""
        while (child := self.child) is None or not child.alive:
            time.sleep(0.05)
        return child.pid

    def _keep(self) -> None:
        while not self._is_over.is_set():
            if self.child is None or not self.child.alive:
                self._may_run.wait()
                if not self._is_over.is_set():
                    process = dataclasses.replace(self.local.process(), env={"PYTHONPATH": str(self._clock)})
                    self.child = Child(process, log=self.local.folder.parent / f"{self.name}.log")
            self._is_over.wait(RESTART_S)
        if self.child is not None:
            self.child.stop()
