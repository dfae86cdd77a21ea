"""Find and end what a killed supervisor, or a killed part, left behind."""

import os
import signal
import time
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


def end(mark: str, *, patience_s: float = 0.0) -> int:
    """Give the marked processes `patience_s` to end by themselves, kill the rest, and return how many were killed."""
    deadline = time.monotonic() + patience_s
    while (left := find(mark)) and time.monotonic() < deadline:
        time.sleep(0.1)
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return len(left)
