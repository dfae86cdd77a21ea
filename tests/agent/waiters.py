"""Bare processes that wait for the instant at which an agent is to begin: what a machine could do at that time."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

# Each child is made as an agent makes its own, once a file of it is on the disk, and does nothing but wait.
PROGRAM = """
import os, sys, time

for line in sys.stdin:
    instant, count = float(line.split()[0]), int(line.split()[1])
    read, write = os.pipe()
    for number in range(count):
        with open(sys.argv[1] + f"/{number}", "w") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        if not os.fork():
            while (left := instant - time.time()) > 0:
                time.sleep(left)
            os.write(write, b"%.6f " % (time.time() - instant))
            os._exit(0)
    for number in range(count):
        os.wait()
    print(os.read(read, 4096).decode(), flush=True)
    os.close(read)
    os.close(write)
"""


class Waiters:
    """A small process that makes such children, round by round."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def begin(self, instant: datetime, count: int) -> None:
        """Have so many children wait for an instant."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{instant.timestamp():.6f} {count}\n")
        self._process.stdin.flush()

    def late(self) -> list[float]:
        """Return how late (s) each of them went on."""
        assert self._process.stdout is not None
        return [float(word) for word in self._process.stdout.readline().split()]


@contextmanager
def waiting(folder: Path) -> Iterator[Waiters]:
    """Yield such a process; a folder is for its files."""
    argv = [sys.executable, "-S", "-E", "-c", PROGRAM, str(folder)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Waiters(process)
