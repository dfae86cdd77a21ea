"""The link emulators as processes: the one in C if it can be compiled here, else the one in Python."""

import functools
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lab import machine, programs
from lab.machine import LabError, command_of
from lab.spec import Link

_HERE = Path(__file__).resolve().parent
SOURCE = _HERE / "forwarder.c"
_SCRIPT = _HERE / "forwarder.py"
_READY_S = 10.0
KINDS = ("auto", "netem", "c", "python")


def choose(kind: str, folder: Path, say: Callable[[str], None]) -> tuple[str, ...]:
    """Return the command of an emulator: "c", "python", or "auto", which says why when it has to make do with Python.

    The compiled program is kept in `folder`. LabError if "c" is wanted and cannot be had.
    """
    # -S and -E: nothing of the environment is needed, and nothing of it should be able to break the line.
    in_python = (sys.executable, "-S", "-E", str(_SCRIPT))
    if kind == "python":
        return in_python
    try:
        return (str(programs.compiled(SOURCE, folder)),)
    except LabError as error:
        if kind == "c":
            raise
        say(f"{error} The link runs in Python instead, which is as exact and costs more CPU time.")
        return in_python


def start(command: tuple[str, ...], link: Link, devices: tuple[str, str], *, log: Path, parent: int) -> int:
    """Start a link's emulator, wait until its two devices are there, and return its process number.

    It dies with the process `parent` unless that is 0. LabError holds what it printed if it does not become ready.
    """
    numbers = (
        f"{link.capacity_bps / 1e6:.9g}",
        f"{link.delay_s * 1e6:.9g}",
        link.queue_bytes,
        f"{link.loss:.9g}",
        link.seed,
        link.overhead_bytes,
        parent,
    )
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [*_before_others(), *command, *devices, *map(str, numbers)],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    deadline = time.monotonic() + _READY_S
    while time.monotonic() < deadline:
        printed = log.read_text(errors="replace")
        if printed.startswith("ready"):
            return process.pid
        if process.poll() is not None:
            raise LabError(f"The emulator of {link.name} ended at once: {printed.strip()}")
        time.sleep(0.01)
    process.kill()
    process.wait()
    raise LabError(f"The emulator of {link.name} was not ready within {_READY_S:.0f} s; see {log}.")


@functools.cache
def _before_others() -> tuple[str, ...]:
    """Return what has a program run as soon as it has work, however busy the machine; () where that is refused.

    A line that waits for a processor would be longer than it should.
    """
    words = ("chrt", "--rr", "1")
    try:
        return words if machine.run([*words, "true"]).returncode == 0 else ()
    except OSError:
        return ()


def carries(prefix: str) -> Callable[[int], bool]:
    """Return a check whether a process is an emulator between devices whose names begin with a prefix."""

    def is_emulator(pid: int) -> bool:
        command = command_of(pid)
        named = any(Path(part).name.startswith("forwarder") for part in command[:4])
        return named and any(part.startswith(prefix) for part in command)

    return is_emulator
