"""An agent on this machine behind a line of ours, kept running as systemd keeps one: a second after it ended."""

import threading
import time

from launch.local_agents import LocalAgent
from launch.process import Child
from tests.agent.relays import MessageProxy

RESTART_S = 1.0


class KeptAgent:
    """An enrolled agent, its line to the service, and the thread that starts it and starts it again."""

    def __init__(self, name: str, local: LocalAgent, line: MessageProxy) -> None:
        self.name = name
        self.local = local
        self.line = line
        self.child: Child | None = None
        self._may_run = threading.Event()
        self._is_over = threading.Event()
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
                    self.child = Child(self.local.process(), log=self.local.folder.parent / f"{self.name}.log")
            self._is_over.wait(RESTART_S)
        if self.child is not None:
            self.child.stop()
