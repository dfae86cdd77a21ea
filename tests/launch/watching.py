"""What the tests of set-up and running share: watching processes end."""

import time
from collections.abc import Callable
from pathlib import Path

# What comes is looked for often until then, and seldom later (s).
SOON_S = 1.0


def alive(pid: int) -> bool:
    """Say whether a process runs (one that has ended and waits to be reaped does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition: Callable[[], object], seconds: float = 15) -> bool:
    """Wait until something is so; return False if it is not in time."""
    begun = time.monotonic()
    while not condition():
        waited_s = time.monotonic() - begun
        if waited_s > seconds:
            return False
        # What takes long is looked for less often: a look may be a request that the service has to answer.
        time.sleep(0.05 if waited_s < SOON_S else 0.25)
    return True


def wait_until_gone(pids: list[int], seconds: float = 15) -> list[int]:
    """Return those of the processes that still run after some seconds."""
    wait_for(lambda: not any(alive(pid) for pid in pids), seconds)
    return [pid for pid in pids if alive(pid)]
