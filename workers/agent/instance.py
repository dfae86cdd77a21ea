"""Which process this is: a number of its own, and what proves that no other can work in its folder beside it."""

from __future__ import annotations

import collections
import hashlib
import logging
import socket
import time
import uuid
from pathlib import Path

from . import VERSION

logger = logging.getLogger(__name__)

_MACHINE = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_BOOT = Path("/proc/sys/kernel/random/boot_id")
# So many polls that the server takes for old ones, within so long (s), are no accident of the network: another
# process goes on with our number, as one does that was copied with its machine's memory.
REPEATS = 3
WITHIN_S = 600.0


class Instance:
    """One process of the agent, and the count of its polls; `lock` is the file that it holds locked."""

    def __init__(self, lock: Path) -> None:
        self.key = str(uuid.uuid4())
        # Whether the folder was copied from where another process worked, with what that one noted of its jobs.
        self.is_in_a_copy = _is_copy(lock)
        self._lock = lock
        self._polls = 0
        self._repeated: collections.deque[float] = collections.deque(maxlen=REPEATS)

    def introduction(self) -> dict[str, str]:
        """Return how it introduces itself to the server; what cannot be read is "".

        Under one kernel (boot) a lock is held by one process at a time, and a copy of a folder is another file.
        """
        return {
            "machine": _digest(_first_of(_MACHINE)),
            "boot": _digest(_first_of((_BOOT,))),
            "folder": _digest(_file_of(self._lock)),
            "host": socket.gethostname(),
            "version": VERSION,
        }

    def next_poll(self) -> int:
        """Return the number of the next poll."""
        self._polls += 1
        return self._polls

    def note_repeated(self) -> bool:
        """Note that the server took a poll for an old one; True if this one goes on under a new number therefore."""
        now = time.monotonic()
        self._repeated.append(now)
        if len(self._repeated) < REPEATS or now - self._repeated[0] > WITHIN_S:
            return False
        self.key, self._polls = str(uuid.uuid4()), 0
        self._repeated.clear()
        return True


def _is_copy(lock: Path) -> bool:
    """Look whether a folder is the one that its mark was written in, and mark it as what it is now."""
    mark, here = lock.with_name("place"), _digest(_first_of(_MACHINE) + _file_of(lock))
    try:
        before = mark.read_text(encoding="ascii")
    except (OSError, ValueError):
        before = ""
    if before != here:
        try:
            mark.write_text(here, encoding="ascii")
        except OSError as error:
            logger.warning("%s cannot be written: %s", mark, error.strerror)
    is_copy = bool(before) and before != here
    if is_copy:
        logger.warning("The folder %s is a copy: jobs that it tells of may run where it was copied", lock.parent)
    return is_copy


def _first_of(places: tuple[Path, ...]) -> str:
    for place in places:
        try:
            text = place.read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            continue
        if text:
            return text
    return ""


def _file_of(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_dev:x}:{status.st_ino:x}"


def _digest(text: str) -> str:
    """Return what tells texts apart but does not give them away."""
    return hashlib.sha256(b"fathom-agent " + text.encode()).hexdigest()[:32] if text else ""
