"""A whole service as a user starts it, three real agents beside it, and the tools that keep their own account."""

import json
import os
import shutil
import signal
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from launch import orphans
from launch.demo import agents, inventory
from launch.demo.ground import Ground, Place
from launch.demo.rest import Rest, RestError
from launch.local_agents import LocalAgent
from tests.agent.relays import MessageProxy
from tests.faults import measuring
from tests.faults.keeping import KeptAgent
from tests.faults.server_clock import ServerClock
from tests.faults.small_disks import SmallDisk
from tests.faults.tally import Tally
from tests.launch import migrated
from tests.launch.stack import Stack
from tests.launch.watching import wait_for, wait_until_gone

T = TypeVar("T")
NODES = ("one", "two", "three")
# Of disks that can be full (MiB).
AGENT_MIB, SERVICE_MIB = 16, 384
# The service starts, or a part of it is back, within this, on a machine that does much else.
BACK_WITHIN_S = 120.0
# The first start migrates, too, for which the service itself allows this.
START_WITHIN_S = 300.0


class Site:
    """All of it below one folder, as a context manager; `pattern` is a folder of `make_pattern` to begin with.

    With `moves_clock` it has a `clock`, which is the service's and not that of the agents; with `has_small_disks`
    `disks` that can be full, of the service ("") and of each agent by its name.
    """

    def __init__(
        self, root: Path, pattern: Path | None = None, *, moves_clock: bool = False, has_small_disks: bool = False
    ) -> None:
        self.root = root
        self.var = root / "var"
        folders = {name: root / "agents" / name for name in NODES} if has_small_disks else {}
        self.disks = {name: SmallDisk(folder, AGENT_MIB) for name, folder in folders.items()}
        if has_small_disks:
            self.disks[""] = SmallDisk(self.var, SERVICE_MIB)
        if pattern is not None:
            migrated.copy_to(root, pattern)
        # Jobs of agents run as another user, who has to pass through.
        root.chmod(0o711)
        self.clock = ServerClock(root) if moves_clock else None
        self.tally = Tally(root / "tally")
        self.shared = root / "shared"
        self.agents: dict[str, KeptAgent] = {}
        self.nodes: dict[str, int] = {}
        # One thing at a time is done to the service as a whole.
        self.service = threading.RLock()
        self.stack = self._start_service()
        self.api = Rest(self.stack.address, "")

    def __enter__(self) -> "Site":
        try:
            self.stack.wait_until_serving(START_WITHIN_S)
            self.api = Rest(self.stack.address, self._token())
            self._prepare()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop all of it."""
        for agent in self.agents.values():
            agent.stop()
        with self.service:
            self.stack.stop()
        for disk in self.disks.values():
            disk.take_away()

    def start_again(self, with_signal: signal.Signals, between: Callable[[], None] = lambda: None) -> None:
        """End the service by a signal to its supervisor, and start it on the same folder and port."""
        with self.service:
            self.stack.process.send_signal(with_signal)
            self.stack.process.wait(BACK_WITHIN_S)
            between()

            def is_serving() -> bool:
                # It ends, and says why, where its database finds no room to start: systemd, too, starts it again.
                if self.stack.process.poll() is not None:
                    self.stack = self._start_service(PORT=self.stack.env["PORT"])
                return "serving at" in self.stack.printed()

            if not wait_for(is_serving, BACK_WITHIN_S):
                raise TimeoutError(self.stack.printed())

    def pid(self, part: str) -> int:
        """Return the process number of a part of the service; waits for it to run."""
        with self.service:
            ours: list[int] = []

            def is_up() -> bool:
                pid = self.stack.pid(part)
                # After a restart the state file may still tell of what was before.
                ours[:] = [pid] if pid and _parent_of(pid) == self.stack.process.pid else []
                return bool(ours)

            if not wait_for(is_up, BACK_WITHIN_S):
                raise TimeoutError(f"{part} did not start within {BACK_WITHIN_S:g} s")
            return ours[0]

    def ask(self, path: str) -> Any:
        """Return the JSON of a REST address, asking again while the service is away."""
        return patiently(lambda: self.api.get(path))

    def every(self, path: str) -> list[dict[str, Any]]:
        """Return the rows of a REST list, asking again while the service is away."""
        return patiently(lambda: list(self.api.every(path)))

    def health(self) -> str:
        """Return what the service says of itself as a whole."""
        try:
            with urllib.request.urlopen(f"{self.stack.address}/health/", timeout=10) as answer:
                return str(json.loads(answer.read())["status"])
        except OSError as error:
            return str(error)

    def processes(self) -> list[int]:
        """Return the processes of the service, the agents and the tools."""
        return sorted({*orphans.find(str(self.var)), *processes_of(self.root)})

    def leftover_processes(self) -> list[str]:
        """Return what runs on after all was stopped, by command line."""
        return [_command_line(pid) for pid in wait_until_gone(self.processes(), 15)]

    def _start_service(self, **environment: str) -> Stack:
        return Stack(self.var, **(self.clock.env if self.clock else {}), **environment)

    def _token(self) -> str:
        """Return a manager's token, made with its account at the first start."""
        file = self.root / "token"
        if not file.exists():
            who = ("--username", "alice")
            self.stack.manage("create_account", *who, "--team", "Grid", "--role", "manager")
            file.write_text(self.stack.manage("create_token", *who, "--name", "faults").strip())
        return file.read_text()

    def _prepare(self) -> None:
        self.tally.prepare()
        self.shared.mkdir()
        self.shared.chmod(0o777)
        places = tuple(self._place(number, name) for number, name in enumerate(NODES, 1))
        ground = Ground("on this machine", places, "127.0.0.1")
        self.nodes = inventory.describe(self.api, ground)
        folder = self.root / "agents"
        folder.mkdir(exist_ok=True)
        folder.chmod(0o711)
        for local in agents.prepare(self.api, ground, self.nodes, folder):
            self.add_agent(local.folder.name, local)
        measuring.define_tools(self.api)
        for agent in self.agents.values():
            agent.start()
        expected = dict.fromkeys(self.nodes.values(), "idle")
        if not wait_for(lambda: self.agent_states() == expected, BACK_WITHIN_S):
            raise TimeoutError(f"not all agents are idle: {self.agent_states()}")

    def add_agent(self, name: str, local: LocalAgent) -> None:
        """Put an enrolled agent behind a line of its own."""
        self.agents[name] = KeptAgent(name, local, MessageProxy(int(self.stack.env["PORT"])))

    def agent_states(self) -> dict[int, str]:
        """Return {node: its agent's state}."""
        return {row["node"]: row["state"] for row in self.every("agents/")}

    def _place(self, number: int, name: str) -> Place:
        programs = self.tally.install(name, self.root / "tools" / name)
        programs |= {name: path for name in measuring.WRITERS if (path := shutil.which(name))}
        rules = {"programs": programs, "paths": [str(self.tally.folder), str(self.shared)]}
        return Place(name, f"Site {name}", f"127.0.1.{number}", "lo", rules=rules)


def make_pattern(folder: Path) -> None:
    """Put into a folder what the first start of a service takes long for: a migrated database with an account."""
    site = Site(folder)
    try:
        site.stack.wait_until_serving(START_WITHIN_S)
        site._token()
    finally:
        site.stop()


def patiently(ask: Callable[[], T], away: type[Exception] = RestError) -> T:
    """Return an answer, asking again while that raises `away`; raises it if it goes on so."""
    deadline = time.monotonic() + BACK_WITHIN_S
    while True:
        try:
            return ask()
        except away:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def processes_of(folder: Path) -> list[int]:
    """Return the processes that work in a folder, or name it or something below it in their command lines."""
    return [
        int(path.name)
        for path in Path("/proc").glob("[0-9]*")
        if int(path.name) != os.getpid() and (_names(path, folder) or _works_in(path, folder))
    ]


def _names(process: Path, folder: Path) -> bool:
    try:
        return os.fsencode(folder) in (process / "cmdline").read_bytes()
    except OSError:
        return False


def _works_in(process: Path, folder: Path) -> bool:
    try:
        return (process / "cwd").readlink().is_relative_to(folder)
    except OSError:
        # Another user's may not be asked.
        return False


def _parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return f"process {pid}"
