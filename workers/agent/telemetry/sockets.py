"""What ss(8) says of a job's own TCP sockets, which are known by the inodes that its processes hold."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..places import USUAL_FOLDERS

# Numbers, TCP, internals, memory; extended gives the inodes. Sockets that only listen are not among them.
OPTIONS = ("-t", "-m", "-i", "-n", "-e", "-H")
TIMEOUT_S = 2.0
# Where there are many sockets, listing them takes long: no more than so much text (B) is read in a second.
MOST_PER_SECOND = 1024 * 1024
# A listing that is slow, on a machine with no time to spare, is followed by a pause of so many times its length.
SLOW_S, PAUSES = 0.2, 10
MOST_PROCESSES = 256
# Of one job at one moment; sockets beyond this are counted, not shown.
MOST_TEXT = 32 * 1024
_INODE = re.compile(rb"\bino:(\d+)")


class Lister:
    """Lists sockets for several jobs at a time."""

    def __init__(self) -> None:
        self._program = shutil.which("ss", path=os.pathsep.join(USUAL_FOLDERS))
        self._not_before = 0.0

    def list(self, pids: Iterable[int]) -> dict[int, tuple[str, int]]:
        """Return {pid: (the lines on the sockets of its process tree, how many sockets these leave out)}."""
        now = time.monotonic()
        if self._program is None or now < self._not_before:
            return {}
        held = {pid: inodes for pid in pids if (inodes := _inodes_of(pid))}
        if not held:
            return {}
        try:
            answer = subprocess.run(
                [self._program, *OPTIONS],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=TIMEOUT_S,
                check=False,
                env={"LC_ALL": "C"},
            )
        except (OSError, subprocess.SubprocessError):
            self._not_before = now + 60
            return {}
        took = time.monotonic() - now
        pause = len(answer.stdout) / MOST_PER_SECOND + (PAUSES * took if took > SLOW_S else 0.0)
        self._not_before = now + pause if pause > 1 else 0.0
        entries = list(_entries(answer.stdout))
        return {pid: lines for pid, inodes in held.items() if (lines := _those_of(entries, inodes))[0]}


def _entries(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield (inode, text) of each socket: a line, and those after it that begin with a blank."""
    entry: list[bytes] = []
    for line in [*text.splitlines(), b"end"]:
        if entry and not line[:1].isspace():
            whole = b"\n".join(entry)
            match = _INODE.search(whole)
            if match:
                yield match.group(1), whole
            entry = []
        entry.append(line.rstrip())


def _those_of(entries: Iterable[tuple[bytes, bytes]], inodes: set[bytes]) -> tuple[str, int]:
    texts, size, left_out = [], 0, 0
    for inode, text in entries:
        if inode in inodes:
            size += len(text)
            if size <= MOST_TEXT:
                texts.append(text)
            else:
                left_out += 1
    return b"\n".join(texts).decode("ascii", "replace"), left_out


def _inodes_of(leader: int) -> set[bytes]:
    """Return the inodes of all sockets that a process or its descendants hold."""
    inodes: set[bytes] = set()
    for pid in tree_of(leader):
        with contextlib.suppress(OSError):
            for place in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(OSError):
                    target = str(place.readlink())
                    if target.startswith("socket:["):
                        inodes.add(target[8:-1].encode())
    return inodes


def tree_of(leader: int) -> list[int]:
    """Return a process and its descendants."""
    pids = [leader]
    for pid in pids:
        if len(pids) >= MOST_PROCESSES:
            break
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(OSError):
                    pids += [int(word) for word in (thread / "children").read_bytes().split()]
    return pids
