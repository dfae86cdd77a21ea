"""A real server process on the test database, and a plain client that speaks as an agent does."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from django.db import connection

from tests.ports import free_port

T = TypeVar("T")
Answer = tuple[int, dict[str, Any]]
ROOT = Path(__file__).resolve().parents[2]
# What comes is looked for often until then, and seldom later (s).
SOON_S = 1.0


class LiveServer:
    """uvicorn with the whole application; it can be taken away and brought back on the same port."""

    def __init__(self, log: Path, host: str = "127.0.0.1", **environment: str) -> None:
        self.log = log
        self.host = host
        self.environment = environment
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def start(self) -> None:
        """Start and wait until it answers."""
        if self.process is not None and self.process.poll() is None:
            return
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "apps.config.settings.test",
            "DATABASE_URL": database_url(),
            **self.environment,
        }
        command = [sys.executable, "-m", "uvicorn", "apps.config.web:application", "--host", self.host]
        command += ["--port", str(self.port), "--timeout-graceful-shutdown", "1", "--no-access-log"]
        with self.log.open("ab") as sink:
            self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=sink, stderr=sink)
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection((self.host, self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(self.log.read_text())

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> None:
        """Take it away."""
        if self.process is not None:
            self.process.send_signal(with_signal)
            self.process.wait(10)
            self.process = None


class Client:
    """One kept-alive connection."""

    def __init__(self, port: int, token: str = "") -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.token = token

    def call(self, path: str, body: Any = None, *, method: str = "POST", **headers: str) -> Answer:
        """Return status and JSON of a request to an agents' address; a body of bytes is sent as it is."""
        data = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        self.connection.request(method, f"/agent/v1/{path}", data, headers)
        response = self.connection.getresponse()
        text = response.read()
        return response.status, json.loads(text)


class Call:
    """A request under way in a thread of its own, such as a poll that waits."""

    def __init__(self, client: Client, path: str, body: Any = None) -> None:
        self.result: Answer | None = None
        self.ended_at = 0.0
        self.thread = threading.Thread(target=self._run, args=(client, path, body), daemon=True)
        self.thread.start()

    def wait(self, timeout_s: float = 5.0) -> Answer:
        """Return status and JSON, or fail."""
        self.thread.join(timeout_s)
        assert self.result is not None, "no answer came"
        return self.result

    def _run(self, client: Client, path: str, body: Any) -> None:
        try:
            self.result = client.call(path, body)
        except (OSError, http.client.HTTPException):
            # The server went away; who waits for the answer fails.
            return
        self.ended_at = time.monotonic()


def database_url() -> str:
    """Return the address of the test database."""
    settings = connection.settings_dict
    host = quote(settings["HOST"], safe="")
    login = f"{settings['USER']}:{quote(settings['PASSWORD'])}@" if settings["USER"] else ""
    return f"postgresql://{login}/{settings['NAME']}?host={host}&port={settings['PORT'] or 5432}"


def wait_for(what: Any, timeout_s: float = 60.0, every_s: float = 0.05) -> Any:
    """Return the first true value of `what()`, or fail; for as long as a busy machine may take, not as it should."""
    begun = time.monotonic()
    while (waited_s := time.monotonic() - begun) < timeout_s:
        found = what()
        if found:
            return found
        # What takes long is looked for less often: each look asks a database or a process that has to work, too.
        time.sleep(every_s if waited_s < SOON_S else 4 * every_s)
    raise AssertionError(f"nothing came of it within {timeout_s} s")


def measured(measure: Callable[[], T], holds: Callable[[T], bool], times: int = 3) -> T:
    """Return a measurement for which something holds, or the last: a busy machine is late now and then."""
    for _time in range(times):
        if holds(found := measure()):
            break
    return found
