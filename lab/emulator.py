"""The link emulators as processes: the one in C if it can be compiled here, else the one in Python."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lab import machine
from lab.machine import LabError, command_of
from lab.spec import Link

_HERE = Path(__file__).resolve().parent
_SOURCE = _HERE / "forwarder.c"
_SCRIPT = _HERE / "forwarder.py"
_FLAGS = ("-O2", "-Wall", "-Wextra", "-pthread")
_READY_S = 10.0
KINDS = ("auto", "c", "python")


def choose(kind: str, folder: Path, say: Callable[[str], None]) -> tuple[str, ...]:
    """Return the command of an emulator: "c", "python", or "auto", which says why when it has to make do with Python.

    The compiled program is kept in `folder`. LabError if "c" is wanted and cannot be had.
    """
    # -S and -E: nothing of the environment is needed, and nothing of it should be able to break the line.
    in_python = (sys.executable, "-S", "-E", str(_SCRIPT))
    if kind == "python":
        return in_python
    try:
        return (str(compiled(folder)),)
    except LabError as error:
        if kind == "c":
            raise
        say(f"{error} The link runs in Python instead, which is as exact and costs more CPU time.")
        return in_python


def compiled(folder: Path) -> Path:
    """Return the compiled emulator, compiled now unless `folder` holds it already; LabError if that fails."""
    compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    digest = hashlib.sha256(_SOURCE.read_bytes() + repr((compiler, _FLAGS)).encode()).hexdigest()[:12]
    program = folder / f"forwarder-{digest}"
    if _runs(program):
        return program
    if compiler is None:
        raise LabError("No C compiler was found (cc, gcc or clang).")
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{program.name}.{os.getpid()}"
    argv = [*compiler.split(), *_FLAGS, "-o", str(draft), str(_SOURCE)]
    try:
        done = machine.run(argv)
    except OSError as error:
        raise LabError(f"The C compiler {compiler} does not run: {error.strerror}.") from error
    if done.returncode != 0:
        raise LabError(f"The C compiler refused forwarder.c: {done.stderr.strip()[:500]}.")
    draft.replace(program)
    if not _runs(program):
        raise LabError(f"The compiled {program} does not run (may programs be run from that folder?).")
    return program


def _runs(program: Path) -> bool:
    try:
        return machine.run([program]).returncode == 2
    except OSError:
        return False


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
            [*command, *devices, *map(str, numbers)],
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


def carries(prefix: str) -> Callable[[int], bool]:
    """Return a check whether a process is an emulator between devices whose names begin with a prefix."""

    def is_emulator(pid: int) -> bool:
        command = command_of(pid)
        named = any(Path(part).name.startswith("forwarder") for part in command[:4])
        return named and any(part.startswith(prefix) for part in command)

    return is_emulator
