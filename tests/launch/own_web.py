"""A web process on a PostgreSQL of its own, which holds a copy of the test database and can be restarted."""

import contextlib
import dataclasses
import http.client
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db import connection

from launch import embedded, ports, service
from launch.process import Child, Process
from tests.agents.live import database_url
from tests.ports import free_port

MOST_CONNECTIONS = 100


class OwnPostgres:
    """PostgreSQL with 100 connections; the database of the test as it is when this starts is copied into it."""

    def __init__(self, folder: Path) -> None:
        server = embedded.postgres(folder, durable=False)
        argv = tuple(
            word.replace("max_connections=200", f"max_connections={MOST_CONNECTIONS}") for word in server.process.argv
        )
        assert argv != server.process.argv
        self.process = dataclasses.replace(server.process, argv=argv)
        self.url = server.url
        self._log = folder / "log"
        self._binaries = Path(argv[0]).parent
        self._child: Child | None = None

    def start(self) -> None:
        """Start, and return when it answers."""
        self._child = Child(self.process, log=self._log)
        self._child.wait_ready()

    def stop(self) -> None:
        """Stop, ending all connections."""
        assert self._child
        self._child.stop()

    def copy_database(self) -> None:
        """Take over what the database of the test holds."""
        connection.close()
        dump = subprocess.Popen([self._binaries / "pg_dump", database_url()], stdout=subprocess.PIPE)
        subprocess.run(
            [self._binaries / "psql", "-q", "-v", "ON_ERROR_STOP=1", self.url],
            stdin=dump.stdout,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        assert dump.wait() == 0


class OwnWeb:
    """The process that `make serve` starts for the pages."""

    def __init__(self, postgres: OwnPostgres, folder: Path) -> None:
        (listener,) = ports.open_sockets([service.LOOPBACK], free_port())
        self._listener = listener
        self.port: int = listener.getsockname()[1]
        self.log = folder / "web.log"
        environment = {
            "DJANGO_SETTINGS_MODULE": "apps.config.settings.production",
            "SECRET_KEY": settings.SECRET_KEY,
            "FATHOM_VAR": str(folder),
            "DATABASE_URL": postgres.url,
        }
        self._process = Process(
            "web",
            (sys.executable, "-m", "launch.web", str(listener.fileno())),
            env=environment,
            cwd=service.ROOT,
            fds=(listener.fileno(),),
            ready=lambda: self.ask("GET", "/health/live/")[0] == 200,
        )
        self._child: Child | None = None

    def start(self) -> None:
        """Start, and return when pages answer."""
        self._child = Child(self._process, log=self.log)
        self._child.wait_ready()

    def stop(self) -> None:
        """Stop."""
        if self._child:
            self._child.stop()
        self._listener.close()

    def ask(
        self, method: str, path: str, body: str = "", **headers: str
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Return status, headers and body of one request, over a connection of its own."""
        exchange = http.client.HTTPConnection(service.LOOPBACK, self.port, timeout=30)
        try:
            exchange.request(method, path, body or None, headers)
            answer = exchange.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            exchange.close()


@contextlib.contextmanager
def running() -> Iterator[tuple[OwnWeb, OwnPostgres]]:
    """Give a web process that answers from a copy of the test's database, and its PostgreSQL."""
    with tempfile.TemporaryDirectory(prefix="fathom-web-") as name:
        folder = Path(name)
        postgres = OwnPostgres(folder / "postgres")
        postgres.start()
        try:
            postgres.copy_database()
            web = OwnWeb(postgres, folder)
            try:
                web.start()
                yield web, postgres
            finally:
                web.stop()
        finally:
            postgres.stop()
