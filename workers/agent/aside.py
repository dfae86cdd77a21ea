"""Records that the server has not, or not whole: a folder by the spool, in which the latest of them stay."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from .durable import DRAFT, move

logger = logging.getLogger(__name__)

SUFFIX = ".jsonl"
# Bytes of all records in such a folder but the latest, which stays however large it is.
MOST_BYTES = 256 * 1024**2
# So long (s) it is told that some were removed.
TELL_S = 86400.0


class Aside:
    """One such folder, of `most` records at most; what is done here is done by the disk's thread."""

    def __init__(self, folder: Path, most: int) -> None:
        self.folder, self.most = folder, most
        self._removed = 0
        self._told_until = 0.0

    def take(self, path: Path) -> None:
        """Take a record's file out of the spool; one that was never put on disk has nothing to keep."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        try:
            # The spool may have a disk of its own.
            move(path, self.folder / path.name)
        except FileNotFoundError:
            return
        self.leave_latest()

    def sweep(self) -> None:
        """Remove what a former process left half done, or without a bound."""
        for draft in self.folder.glob("*" + SUFFIX + DRAFT):
            draft.unlink(missing_ok=True)
        self.leave_latest()

    def leave_latest(self) -> None:
        """Remove the oldest records for which there is no room."""
        rows = [(path.stat(), path) for path in self.folder.glob("*" + SUFFIX)]
        total = 0
        for number, (status, path) in enumerate(sorted(rows, key=lambda row: row[0].st_mtime_ns, reverse=True)):
            total += status.st_size
            if number and (number >= self.most or total > MOST_BYTES):
                path.unlink(missing_ok=True)
                self._removed += 1
                self._told_until = time.monotonic() + TELL_S
                logger.warning("%s is removed: %s has room for no more", path.name, self.folder)

    def trouble(self) -> tuple[str, str] | None:
        """Return the code and the words of what was removed lately, None if nothing was."""
        if time.monotonic() >= self._told_until:
            return None
        return "refused-removed", f"{self._removed} of the oldest records in {self.folder} were removed"
