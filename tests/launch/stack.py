"""A whole service of its own for a test: real processes on a temporary var folder and a free port."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
# The test run's own servers and settings are not those of the service under test.
NOT_INHERITED = (
    "DATABASE_URL",
    "REDIS_URL",
    "DJANGO_SETTINGS_MODULE",
    "FATHOM_VAR",
    "SECRET_KEY",
    "ALLOWED_HOSTS",
    "PORT",
)


class Stack:
    """A running `python -m launch VERB`: its address, its parts' process numbers, and what it printed."""

    def __init__(
        self, folder: Path, verb: str = "serve", program: Sequence[str] = ("-m", "launch"), **environment: str
    ) -> None:
        """Start it on the var folder `folder`; `environment` adds to the process's own, `program` is Python's."""
        self.folder = folder
        self.output = folder.parent / f"{folder.name}.out"
        inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
        self.env = {**inherited, "FATHOM_VAR": str(folder), "PORT": str(free_port()), **environment}
        with self.output.open("wb") as sink:
            self.process = subprocess.Popen(
                [sys.executable, *program, verb], cwd=ROOT, env=self.env, stdout=sink, stderr=subprocess.STDOUT
            )

    @property
    def address(self) -> str:
        """Return where it answers."""
        return f"http://127.0.0.1:{self.env['PORT']}"

    def printed(self) -> str:
        """Return what it has printed so far."""
        return self.output.read_text()

    def state(self) -> dict[str, Any]:
        """Return its state file; empty while it has none."""
        try:
            state: dict[str, Any] = json.loads((self.folder / "run" / "state.json").read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return state

    def pid(self, part: str) -> int | None:
        """Return the process number of a part, None if it is down."""
        pid: int | None = self.state().get("parts", {}).get(part)
        return pid

    def kill(self, part: str) -> None:
        """Kill a part with -9; the supervisor starts it again."""
        pid = self.pid(part)
        assert pid is not None, f"{part} does not run"
        os.kill(pid, signal.SIGKILL)

    def wait_until_serving(self, seconds: float = 120) -> None:
        """Return when it says that it serves; AssertionError with what it printed if it ends or takes too long."""
        deadline = time.monotonic() + seconds
        while "serving at" not in self.printed():
            assert self.process.poll() is None, self.printed()
            assert time.monotonic() < deadline, self.printed()
            time.sleep(0.1)

    def manage(self, *arguments: str) -> str:
        """Run a management command on its database and return what that prints."""
        state = self.state()
        env = {
            **self.env,
            "DJANGO_SETTINGS_MODULE": "apps.config.settings.production",
            "SECRET_KEY": "for the commands of one test, and no other",
            "DATABASE_URL": state["database_url"],
            "REDIS_URL": state["redis_url"],
        }
        return subprocess.run(
            [sys.executable, "manage.py", *arguments], cwd=ROOT, env=env, check=True, capture_output=True, text=True
        ).stdout

    def stop(self, with_signal: signal.Signals = signal.SIGINT) -> int:
        """Stop it as Ctrl-C does and return its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        return self.process.wait(60)


@contextmanager
def running(folder: Path, **environment: str) -> Iterator[Stack]:
    """Give a service that answers, and stop it afterwards."""
    stack = Stack(folder, **environment)
    try:
        stack.wait_until_serving()
        yield stack
    finally:
        stack.stop()
