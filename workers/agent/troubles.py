"""What is wrong on this node itself: told with every poll, so that nobody takes it for a failure of a measurement."""

from __future__ import annotations

import errno
import logging
import os
import resource
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from .clock import Clock
from .disks import HUNG_AFTER_S, Disk, Errand, Hung
from .removal import Clearing
from .spool import Spool
from .unsent import Unsent

logger = logging.getLogger(__name__)

# Free space (bytes) below which a disk counts as full, and file descriptors that have to be left.
SPOOL_NEEDS = 256 * 1024
WORK_NEEDS = 64 * 1024
LEAST_DESCRIPTORS = 32
# Whether a folder can be written is tried this often (s), and each time as long as it cannot.
TRY_EVERY_S = 30.0
# So long (s) after something failed for want of it a place counts as full although a trial can be written again.
DOUBT_S = 30.0
# So long (s) it is told that the clock was set.
TELL_CLOCK_S = 600.0
_FULL = (errno.ENOSPC, errno.EDQUOT)
_OWN = (*_FULL, errno.EROFS, errno.EIO, errno.ETIMEDOUT, errno.EMFILE, errno.ENFILE)
_PROBE = ".probe"


def is_nodes_own(error: OSError) -> bool:
    """Say whether an error is the node's (a full disk, say) and not of what was to be done."""
    return error.errno in _OWN


def fault_of(error: OSError) -> str:
    """Return the fault of a job that could not begin for an error."""
    return "node-trouble" if is_nodes_own(error) else "not-started"


class Place:
    """A folder that has to be written, and why it could not be."""

    def __init__(
        self,
        name: str,
        folder: Path,
        needs: int,
        disk: Disk | None = None,
        *,
        mode: int = 0o700,
        fill: Callable[[], object] = lambda: None,
    ) -> None:
        """`mode` is that of the folder, and `fill` puts into it, at each look, what has to be there and is not."""
        self.folder, self.disk = folder, disk or Disk()
        self._name, self._needs, self._mode, self._fill = name, needs, mode, fill
        self._tried_at = -TRY_EVERY_S
        self._failure: OSError | None = None
        self._doubted_until = 0.0
        self._looking: Errand[tuple[str, str] | None] = Errand(self.disk)
        self._last: tuple[str, str] | None = None

    def note(self, error: OSError) -> None:
        """Take in that something could not be written here."""
        self._failure, self._doubted_until = error, time.monotonic() + DOUBT_S

    def trouble(self) -> tuple[str, str] | None:
        """Return the code and the words of what is wrong, None if nothing is; as it was last if the disk is slow."""
        try:
            self._last = self._looking.do(self._look)
        except Hung:
            if self.disk.is_hung():
                words = f"{self.folder} has not answered for more than {HUNG_AFTER_S:.0f} s"
                self._last = f"{self._name}-hung", words
        return self._last

    def _look(self) -> tuple[str, str] | None:
        try:
            status = self._status()
            self._fill()
        except OSError as error:
            return self._named(error)
        if status.f_flag & os.ST_RDONLY:
            return f"{self._name}-read-only", str(self.folder)
        free = status.f_bavail * status.f_frsize
        if free < self._needs:
            return f"{self._name}-full", f"{free // 1024} KiB are free in {self.folder}"
        if status.f_files and not status.f_favail:
            return f"{self._name}-full", f"no file can be made any more in {self.folder}"
        self._try()
        return self._named(self._failure) if self._failure is not None else None

    def _status(self) -> os.statvfs_result:
        """Return the state of the folder's disk; a folder that was cleared away is made anew, as at the start."""
        try:
            return os.statvfs(self.folder)
        except FileNotFoundError:
            self.folder.mkdir(mode=self._mode)
            logger.warning("The folder %s was removed while this agent works: it is made anew", self.folder)
            return os.statvfs(self.folder)

    def _try(self) -> None:
        now = time.monotonic()
        if now < self._doubted_until or (self._failure is None and now < self._tried_at + TRY_EVERY_S):
            return
        self._tried_at = now
        path = self.folder / _PROBE
        try:
            with path.open("wb") as file:
                file.write(b"0" * 4096)
            path.unlink()
        except OSError as error:
            self._failure = error
        else:
            self._failure = None

    def _named(self, error: OSError) -> tuple[str, str]:
        words = f"{error.strerror} in {self.folder}"
        if error.errno in _FULL:
            return f"{self._name}-full", words
        if isinstance(error, Hung):
            return f"{self._name}-hung", words
        return f"{self._name}-{'read-only' if error.errno == errno.EROFS else 'unwritable'}", words


class Source(Protocol):
    """Something looked after that may be in trouble."""

    def trouble(self) -> tuple[str, str] | None:
        """Return the code and the words of what is wrong, None if nothing is."""


class Troubles:
    """Looks after the agent's own disks, its descriptors, its clock, what it has to remove or cannot send."""

    def __init__(
        self, spool: Spool, work: Path, clock: Clock, clearing: Clearing, keepers: Sequence[Source], unsent: Unsent
    ) -> None:
        self.spool = Place("spool", spool.folder, SPOOL_NEEDS, spool.disk, fill=spool.put_back)
        self.work = Place("work", work, WORK_NEEDS, mode=0o711)
        self._keepers = keepers
        self._clock, self._clearing, self._unsent = clock, clearing, unsent
        self._clock_was_set: tuple[float, str] | None = None
        self._lock = threading.Lock()

    def look(self) -> list[dict[str, str]]:
        """Return what is wrong now, each as {"code", "detail"}."""
        with self._lock:
            # The keepers first: the folder that they see to is what the others' folders are in.
            keepers = [keeper.trouble() for keeper in self._keepers]
            places = [self.spool.trouble(), self.work.trouble(), *keepers]
            kinds = [*places, _descriptors(), self._clock_set(), *self._folders(), self._unsent.trouble()]
        return [{"code": kind[0], "detail": kind[1]} for kind in kinds if kind]

    def of_disks(self) -> str:
        """Return in words what is wrong with the disks that jobs need, "" if nothing is."""
        with self._lock:
            kind = self.work.trouble()
        return f"{kind[0]}: {kind[1]}" if kind else ""

    def _clock_set(self) -> tuple[str, str] | None:
        now = time.monotonic()
        step = self._clock.was_set()
        if step:
            self._clock_was_set = (now + TELL_CLOCK_S, f"by {step:+.1f} s")
        if self._clock_was_set is not None and now < self._clock_was_set[0]:
            return "clock-set", self._clock_was_set[1]
        return None

    def _folders(self) -> list[tuple[str, str]]:
        kinds = []
        under_way, left = self._clearing.under_way(), self._clearing.left()
        if under_way:
            kinds.append(("clearing", ", ".join(map(str, under_way[:3]))))
        if left:
            kinds.append(("folder-left", next(iter(left.values()))))
        return kinds


def _descriptors() -> tuple[str, str] | None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        used = sum(1 for _entry in Path("/proc/self/fd").iterdir())
    except OSError as error:
        return ("few-descriptors", str(error.strerror)) if error.errno in (errno.EMFILE, errno.ENFILE) else None
    if most != resource.RLIM_INFINITY and most - used < LEAST_DESCRIPTORS:
        return "few-descriptors", f"{used} of {most} are in use"
    return None
