"""What the tests of set-up and running share: watching processes end."""

import time
from collections.abc import Callable
from pathlib import Path


def alive(pid: int) -> bool:
    """Say whether a process runs (one that has ended and waits to be reaped does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition: Callable[[], object], seconds: float = 15) -> bool:
    """Wait until something is so; return False if it is not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def wait_until_gone(pids: list[int], seconds: float = 15) -> list[int]:
    """Return those of the processes that still run after some seconds."""
    wait_for(lambda: not any(alive(pid) for pid in pids), seconds)
    return [pid for pid in pids if alive(pid)]
