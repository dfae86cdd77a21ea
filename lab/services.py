"""The servers that a lab runs on its nodes: started in the foreground, waited for, and named where they fail."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from lab.machine import LabError, command_of
from lab.rooms import Room

_LOOK_S = 0.05
READY_S = 90.0


@dataclass(frozen=True)
class Service:
    """A running server: the node it lives on, its process and its log."""

    name: str
    node: str
    pid: int
    log: str

    def as_state(self) -> dict[str, object]:
        """Return it as the state file has it."""
        return asdict(self)


def start(
    room: Room,
    name: str,
    argv: list[str],
    *,
    ready: Callable[[], bool],
    environment: Mapping[str, str] | None = None,
) -> Service:
    """Start a server on a node and return when `ready` says so.

    LabError holds the end of its log if it ends before, or is not ready within 90 s.
    """
    log = room.place.folder / f"{room.name}-{name}.log"
    with log.open("wb") as sink:
        try:
            process = subprocess.Popen(
                [*room.prefix, *argv],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **(environment or {})},
            )
        except OSError as error:
            raise LabError(f"{name} of {room.name} cannot be started: {error.strerror}.") from error
    deadline = time.monotonic() + READY_S
    while not ready():
        if process.poll() is not None:
            raise LabError(f"{name} of {room.name} ended at once: {_tail(log)}")
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise LabError(f"{name} of {room.name} was not ready within {READY_S:.0f} s: {_tail(log)}")
        time.sleep(_LOOK_S)
    return Service(name, room.name, process.pid, str(log.resolve()))


def wait_for(condition: Callable[[], bool], failure: str) -> None:
    """Wait until something is so; LabError with `failure` if it is not within 90 s."""
    deadline = time.monotonic() + READY_S
    while not condition():
        if time.monotonic() > deadline:
            raise LabError(f"{failure} after {READY_S:.0f} s.")
        time.sleep(_LOOK_S)


def lives(entry: Mapping[str, object], netns: Callable[[int], bool]) -> bool:
    """Say whether a service's process is there; `netns` is a check whether a process lives on the nodes."""
    pid = int(str(entry["pid"]))
    return bool(command_of(pid)) and netns(pid)


def answers(room: Room, *argv: str) -> Callable[[], bool]:
    """Return a check whether a command succeeds on a node."""

    def answered() -> bool:
        try:
            done = subprocess.run([*room.prefix, *argv], capture_output=True, check=False, timeout=READY_S)
        except subprocess.TimeoutExpired:
            # On a busy machine a server may take longer to answer than to start: whoever waits says for how long.
            return False
        return done.returncode == 0

    return answered


def listens(room: Room, port: int) -> Callable[[], bool]:
    """Return a check whether something listens at a TCP port of a node."""

    def listening() -> bool:
        # Of the node's own network namespace: proc(5), /proc/net/tcp, state 0A is LISTEN.
        lines = "".join(room.do("cat", f"/proc/net/{name}") for name in ("tcp", "tcp6")).splitlines()
        rows = [line.split() for line in lines]
        return any(len(row) > 3 and row[3] == "0A" and row[1].endswith(f":{port:04X}") for row in rows)

    return listening


def need(program: str, package: str, what: str) -> str:
    """Return the path of a program; LabError names the package that brings it."""
    folders = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/local/sbin", "/usr/sbin", "/sbin"]
    for folder in folders:
        path = Path(folder) / program
        if folder and os.access(path, os.X_OK) and path.is_file():
            return str(path)
    raise LabError(f"{what} needs {program}, which is not installed: install the package {package}.")


def _tail(log: Path) -> str:
    return log.read_text(errors="replace").strip()[-800:] or f"it said nothing; see {log}"
