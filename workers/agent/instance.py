"""Which process this is: a number of its own, and what proves that no other can work in its folder beside it."""

from __future__ import annotations

import collections
import hashlib
import itertools
import logging
import socket
import time
import uuid
from pathlib import Path

from . import VERSION
from .lock import Lock

logger = logging.getLogger(__name__)

_MACHINE = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
MARK = "place"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
# So many polls that the server takes for old ones, within so long (s), are no accident of the network: another
# process goes on with our number, as one does that was copied with its machine's memory.
REPEATS = 3
WITHIN_S = 600.0


class Instance:
    """One process of the agent, and the count of its polls; `lock` is what it holds of its folder.

    The folder's mark (the file `place`) says which file was locked by the process that worked there last. As long as
    that one lives its file is there for it, removed or not, and no other has its number: so who holds the file of the
    mark follows that process, and who holds another may stand beside it.
    """

    def __init__(self, folder: Path, lock: Lock | None = None) -> None:
        self.key = str(uuid.uuid4())
        self._mark, self._lock = folder / MARK, lock
        # Why it could not be written, as it was told last.
        self._mark_failure: str | None = None
        mark = _first_of((self._mark,))
        # Whether no other process can be at work in the folder, whatever the server says.
        self.is_alone = mark == self._place()
        # Whether the folder, or only its lock, is another than that of the process that worked there last.
        self.is_in_a_copy = bool(mark) and not self.is_alone
        if self.is_in_a_copy:
            logger.warning(
                "The folder %s is a copy, or its lock was removed: nothing in it is touched before the server lets "
                "this process in, for what it tells of may run still",
                folder,
            )
        # When it took the lock, by a clock that begins with the boot and that nobody sets: whoever follows is later.
        self._began_ns = time.monotonic_ns()
        self._polls, self._requests = 0, itertools.count(1)
        self._repeated: collections.deque[float] = collections.deque(maxlen=REPEATS)

    def introduction(self) -> dict[str, str | int]:
        """Return how it introduces itself to the server; what cannot be read is "".

        Under one kernel (boot) a lock is held by one process at a time, and a copy of a folder is another file.
        `began_ns` tells which of two processes had it first.
        """
        return {
            "machine": _digest(_first_of(_MACHINE)),
            "boot": _digest(_first_of((_BOOT,))),
            "folder": _digest(self._lock.file if self._lock else ""),
            "host": socket.gethostname(),
            "version": VERSION,
            "began_ns": self._began_ns,
        }

    def mark_place(self) -> None:
        """Write down that this process is the one that works in the folder."""
        try:
            self._mark.write_text(self._place(), encoding="ascii")
        except OSError as error:
            if error.strerror != self._mark_failure:
                logger.warning("%s cannot be written: %s", self._mark, error.strerror)
            self._mark_failure = error.strerror
        else:
            self._mark_failure = None

    def keep_mark(self) -> None:
        """Write the mark down again if it was removed."""
        if not self._mark.exists():
            self.mark_place()

    def next_request(self) -> str:
        """Return the name of the next request: its number, which tells a repeated one, and what no other has."""
        return f"{next(self._requests):x}-{uuid.uuid4().hex}"

    def next_poll(self) -> int:
        """Return the number of the next poll."""
        self._polls += 1
        return self._polls

    def _place(self) -> str:
        return _digest(_first_of(_MACHINE) + (self._lock.file if self._lock else ""))

    def note_repeated(self) -> bool:
        """Note that the server took a poll for an old one; True if this one goes on under a new number therefore."""
        now = time.monotonic()
        self._repeated.append(now)
        if len(self._repeated) < REPEATS or now - self._repeated[0] > WITHIN_S:
            return False
        self.key, self._polls = str(uuid.uuid4()), 0
        self._repeated.clear()
        return True


def _first_of(places: tuple[Path, ...]) -> str:
    for place in places:
        try:
            text = place.read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            continue
        if text:
            return text
    return ""


def _digest(text: str) -> str:
    """Return what tells texts apart but does not give them away."""
    return hashlib.sha256(b"fathom-agent " + text.encode()).hexdigest()[:32] if text else ""
