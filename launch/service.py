"""The whole service: embedded servers, migrations, web server, worker, timetable, local agents."""

import dataclasses
import http.client
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from launch import (
    commands,
    embedded,
    folder_lock,
    leftovers,
    liveness,
    local_agents,
    orphans,
    owners,
    ports,
    supervisor,
)
from launch.home import ROOT, Home, hang_after_s
from launch.process import Process

LOOPBACK = "127.0.0.1"
# Who looks after the service on its machine asks for it by these, whatever its users call it.
_OWN_NAMES = ("localhost", LOOPBACK, "[::1]")
_EVERYWHERE = {"0.0.0.0", "::"}  # noqa: S104
# The highest stops first; local agents (30) lie between, so that they can report their last jobs.
_WEB, _WORKERS = 20, 40
# How the files are called that workers and the timetable touch (workers.signs).
_SIGN = "FATHOM_SIGN"
# And those in which parts say what they wait for (core.holding).
_WAITS = "FATHOM_WAITS"


_CELERY = (sys.executable, "-m", "workers")


class SettingsError(RuntimeError):
    """Settings with which nothing can start; the text names them and says what to give."""


class Service:
    """Fathom on one var folder, as a context manager that starts it and stops all of it.

    `port` None takes the first free one from 8000; `binds` are further addresses of this machine to listen at.
    `with_agents` starts the local agents of earlier runs too. DATABASE_URL and REDIS_URL in the environment take the
    place of the embedded servers.
    """

    def __init__(
        self,
        folder: Path | Home,
        *,
        port: int | None = None,
        binds: Sequence[str] = (),
        worker_processes: int = 2,
        with_agents: bool = True,
        report: Callable[[str, str], None] = supervisor.print_event,
    ) -> None:
        self.home = folder if isinstance(folder, Home) else Home(folder)
        self.env: dict[str, str] = {}
        self.address = ""
        self._port = port
        self._hosts = list(dict.fromkeys([LOOPBACK, *binds]))
        self._worker_processes = worker_processes
        self._hang_after_s = hang_after_s()
        self._with_agents = with_agents
        self._report = report
        self._agents: list[local_agents.LocalAgent] = []
        self._sockets: list[socket.socket] = []
        self._servers: list[embedded.Server] = []
        self.supervisor = supervisor.Supervisor(
            logs=self.home.logs, mark=str(self.home.folder), report=report, on_change=self._changed
        )

    def start(self) -> None:
        """Start everything and return when the pages answer.

        HomeError, PortError, EmbeddedError or ProcessError say in words why that is not possible.
        """
        if not folder_lock.take(self.home, self._report, "supervisor", is_over=lambda: self.supervisor.is_stopping):
            raise supervisor.Stopped
        try:
            leftovers.clear(self.home, self._report)
            if self._with_agents:
                self._agents = local_agents.kept(self.home.agents, self._report)
            self._open_sockets()
            self._set_environment()
            self._check_settings()
            for process in self._table():
                self.supervisor.add(process)
            self.supervisor.start()
            leftovers.tell(self.env["DATABASE_URL"], self._report)
            self._start_agents()
        except BaseException:
            self.stop()
            raise

    def wait(self) -> None:
        """Return when everything was stopped, after request_stop()."""
        self.supervisor.wait()

    def request_stop(self) -> None:
        """Begin to stop everything."""
        self.supervisor.request_stop()

    def stop(self) -> None:
        """Stop everything, wait for it, and give the folder back."""
        self.supervisor.stop()
        orphans.end(str(self.home.folder))
        for opened in self._sockets:
            opened.close()
        for server in self._servers:
            server.forget_sockets()
        self.home.unlock()

    def __enter__(self) -> "Service":
        """Start everything."""
        self.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Stop everything; what failed once that was asked for, failed for it."""
        was_asked = self.supervisor.is_stopping
        self.stop()
        if was_asked and isinstance(error, Exception):
            raise supervisor.Stopped from error

    def manage(self, *arguments: str, text: str = "", again: Sequence[str] = ()) -> str:
        """Run a management command on the service's database and return what it prints; `text` is its input.

        ManageError if it fails. A database that starts again is waited for; then it has the arguments `again`, too.
        """
        return commands.run(arguments, self.env, text, again=again, is_over=lambda: self.supervisor.is_stopping)

    def first_account(self, *, username: str = "admin", team: str = "My team") -> list[str]:
        """Make the first account of this folder, and return what there is to tell: its name and password.

        Once that is told, `home.note_account()` says so. Until then, a password that was made and lost with the
        process that was to tell it is made anew.
        """
        if self.home.has_account():
            return []
        renewing = ["--renew-unused"]
        once_more = renewing if self.home.was_account_begun() else []
        self.home.begin_account()
        ask = ("create_account", "--username", username, "--team", team)
        return self.manage(*ask, *once_more, again=[] if once_more else renewing).splitlines()

    def _open_sockets(self) -> None:
        for host in [agent.server_host() for agent in self._agents]:
            if host not in self._hosts and ports.is_here(host):
                self._hosts.append(host)
        self._sockets = ports.open_sockets(self._hosts, self._port)
        port = self._sockets[0].getsockname()[1]
        self.address = f"http://{LOOPBACK}:{port}"
        if not self._port and port != ports.DEFAULT:
            self._report("supervisor", f"port {ports.DEFAULT} is taken, {port} is used (choose one with PORT=)")

    def _set_environment(self) -> None:
        if self.home.has_lost_secret():
            self._report("supervisor", "the file secret_key was empty and is made anew: everybody signs in again")
        self.env = {
            "DJANGO_SETTINGS_MODULE": "apps.config.settings.production",
            "FATHOM_VAR": str(self.home.folder),
            "SECRET_KEY": os.environ.get("SECRET_KEY") or self.home.secret_key(),
            "ALLOWED_HOSTS": ",".join([*_OWN_NAMES, *self._hosts, os.environ.get("ALLOWED_HOSTS", "")]),
            "PYTHONUNBUFFERED": "1",
        }
        for name, make in (("DATABASE_URL", embedded.postgres), ("REDIS_URL", embedded.valkey)):
            self.env[name] = os.environ.get(name, "")
            if not self.env[name]:
                folder = "postgres" if make is embedded.postgres else "valkey"
                server = make(self.home.folder / folder)
                self._servers.append(server)
                self.env[name] = server.url

    def _check_settings(self) -> None:
        """Raise SettingsError, which names all that is wrong with the settings, before anything starts."""
        if _EVERYWHERE & set(self._hosts) and not os.environ.get("ALLOWED_HOSTS", "").strip():
            raise SettingsError(
                "BIND names every address of this machine: say in ALLOWED_HOSTS by which names and addresses people"
                " and agents ask for it, such as ALLOWED_HOSTS=fathom.example.org,192.0.2.10."
            )
        argv = [sys.executable, "-m", "apps.config.settings"]
        env = {**os.environ, **self.env}
        done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SettingsError(done.stderr.strip())

    def _table(self) -> list[Process]:
        """Return the processes in the order of their start."""
        descriptors = tuple(listener.fileno() for listener in self._sockets)
        ours = [
            Process("migrate", (sys.executable, "manage.py", "migrate_pending"), once=True),
            # Looks of the timetable, which wait for no message of what they look after: two at once, such as one that
            # launches a large campaign and one that takes up dead work.
            _worker("worker-clock", "clock", 2),
            _worker("worker", "celery", self._worker_processes),
            # Long work: the steps of measurements go before it. Two, of which one at most is at what may take hours.
            _worker("worker-long", "long", 2, "nice", "-n", "5"),
            Process("beat", (*_CELERY, "beat", "--scheduler=workers.signs:Timetable", "--pidfile="), tier=_WORKERS),
            Process(
                "web",
                (sys.executable, "-m", "launch.web", *map(str, descriptors)),
                fds=descriptors,
                ready=self._pages_answer,
                sign=self._pages_answer,
                tier=_WEB,
            ),
        ]
        processes = [server.process for server in self._servers]
        processes += [
            self._with_files(dataclasses.replace(process, cwd=ROOT, env=self.env, writes_in=(self.home.folder,)))
            for process in ours
        ]
        return [dataclasses.replace(process, hang_after_s=self._hang_after_s) for process in processes]

    def _with_files(self, process: Process) -> Process:
        """Return a process with the file of what it waits for, and one of Celery's with that which it touches."""
        if process.once:
            return process
        waits, file = self.home.run / f"{process.name}.waits", self.home.run / f"{process.name}.sign"
        # What a former run left there is no more, and may be another user's.
        with owners.acting(waits.parent):
            waits.unlink(missing_ok=True)
        process = dataclasses.replace(process, env={**process.env, _WAITS: str(waits)}, waits=waits)
        if process.sign:
            return process
        sign = liveness.FileSign(file)
        sign.make()
        return dataclasses.replace(process, env={**process.env, _SIGN: str(file)}, sign=sign, ready_timeout_s=120.0)

    def _pages_answer(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/health/live/", timeout=5) as answer:  # noqa: S310
                return bool(answer.status == 200)
        except (OSError, http.client.HTTPException):
            return False

    def _start_agents(self) -> None:
        """Start the agents of earlier runs with the program that every node gets from this server."""
        port = self._sockets[0].getsockname()[1]
        if self._agents:
            self._fetch_program()
        for agent in self._agents:
            if local_agents.namespace_is_down(agent.prefix):
                self._report(agent.folder.name, "not started: its network namespace is down; make demo builds it")
            else:
                agent.call_at(port)
                self.supervisor.add(agent.process())

    def _fetch_program(self) -> None:
        try:
            local_agents.fetch_program(self.address, self.home.agents)
        except (OSError, http.client.HTTPException) as error:
            self._report("supervisor", f"the agents' program could not be fetched, the last one is used: {error}")

    def _changed(self, parts: Mapping[str, int]) -> None:
        self._write_state(parts)
        if not parts and self.supervisor.is_stopping:
            # Who waits for an answer is told at once that there will be none.
            for opened in self._sockets:
                opened.close()

    def _write_state(self, parts: Mapping[str, int]) -> None:
        self.home.write_state(
            {
                "pid": os.getpid(),
                "address": self.address,
                "database_url": self.env["DATABASE_URL"],
                "redis_url": self.env["REDIS_URL"],
                "parts": dict(parts),
            }
        )


def _worker(name: str, queue: str, processes: int, *prefix: str) -> Process:
    """Return a worker that looks after one of the queues (`workers.celery`)."""
    options = (f"--queues={queue}", f"--hostname={name}@%h", f"--concurrency={processes}", "--prefetch-multiplier=1")
    # They have nothing to tell each other: to ask around would delay each start by a second.
    alone = ("--without-gossip", "--without-mingle")
    return Process(
        name,
        (*prefix, *_CELERY, "worker", *options, *alone, "--loglevel=INFO"),
        # Asked politely it would wait for a broker that dies at the same moment; truth is in the database.
        death_signal=signal.SIGKILL,
        tier=_WORKERS,
    )
