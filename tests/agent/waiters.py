"""Bare processes that begin at the instant at which an agent is to begin: what a machine could do at that time."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from workers.agent.gate import AHEAD_S

# So many times what they were late, or apart, is excused in an agent: it is what the machine could do.
EXCUSED = 3.0
# Each command has a thread that makes its process as long before the instant as an agent does, and nothing else.
PROGRAM = """
import os, subprocess, sys, threading, time

ahead_s = float(sys.argv[1])
for line in sys.stdin:
    instant, count = float(line.split()[0]), int(line.split()[1])
    read, write = os.pipe()

    def hold():
        while (left := instant - time.time()) > 0:
            time.sleep(left)
        os.write(write, b"%.6f " % (time.time() - instant))

    def begin():
        time.sleep(max(0.0, instant - ahead_s - time.time()))
        subprocess.run(["true"], preexec_fn=hold, capture_output=True)

    threads = [threading.Thread(target=begin) for _number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(os.read(read, 4096).decode(), flush=True)
    os.close(read)
    os.close(write)
"""


class Waiters:
    """A small program that starts such processes, round by round."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def begin(self, instant: datetime, count: int) -> None:
        """Have so many processes begin at an instant."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{instant.timestamp():.6f} {count}\n")
        self._process.stdin.flush()

    def late(self) -> list[float]:
        """Return how late (s) each of them went on."""
        assert self._process.stdout is not None
        return [float(word) for word in self._process.stdout.readline().split()]


@contextmanager
def waiting() -> Iterator[Waiters]:
    """Yield the program."""
    argv = [sys.executable, "-S", "-E", "-c", PROGRAM, str(AHEAD_S)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Waiters(process)
