"""Find and end what a killed supervisor, or a killed part, left behind."""

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

# Stands in the environment of every supervised process and is inherited by what these start.
MARK = "FATHOM_SUPERVISED"


def find(mark: str, *, processes: Path = Path("/proc")) -> list[int]:
    """Return the processes other than this one that carry the mark (Linux; elsewhere none is found)."""
    wanted = f"{MARK}={mark}".encode()
    pids = []
    for folder in processes.glob("[0-9]*"):
        try:
            marked = wanted in (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            # Another user's process, or one that has just ended.
            continue
        if marked and int(folder.name) != os.getpid():
            pids.append(int(folder.name))
    return pids


def at_work_in(folder: Path, program: str, *, processes: Path = Path("/proc")) -> list[int]:
    """Return the processes of a program whose working folder this is: some write over their environment (Linux)."""
    pids = []
    for entry in processes.glob("[0-9]*"):
        try:
            is_its = (entry / "comm").read_text().strip() == program and (entry / "cwd").readlink() == folder
        except OSError:
            continue
        if is_its:
            pids.append(int(entry.name))
    return pids


def kill(pids: Iterable[int]) -> int:
    """Kill processes, and return how many were there."""
    killed = 0
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            killed += 1
    return killed


def end(mark: str, *, patience_s: float = 0.0) -> int:
    """Give the marked processes `patience_s` to end by themselves, kill the rest, and return how many were killed."""
    deadline = time.monotonic() + patience_s
    while (left := find(mark)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return kill(left)
