"""Work folders taken away: beside all else, for a large one takes its time, and before anything is measured again."""

from __future__ import annotations

import logging
import shutil
import threading
import time
import uuid
from collections.abc import Collection
from pathlib import Path

from .kin import end_kin

logger = logging.getLogger(__name__)

# A job's end is reported, and another job begun, only when its folder is gone; but not later than after this (s).
WITHIN_S = 20.0
# What could not be removed is tried again this often (s).
AGAIN_S = 60.0


class Clearing:
    """Removes work folders, each in a thread of its own."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._under_way: set[Path] = set()
        self._left: dict[Path, str] = {}
        self._again_at = 0.0

    def remove(self, folder: Path) -> None:
        """Begin to remove a folder with all that is in it; links in it, or one in its place, are not followed."""
        with self._condition:
            if folder in self._under_way:
                return
            self._under_way.add(folder)
        threading.Thread(target=self._remove, args=(folder,), name=f"clear-{folder.name}", daemon=True).start()

    def sweep(self, work: Path, spared: Collection[str]) -> None:
        """Begin to remove what former processes left in the work folder: all with a job's name but for `spared`."""
        for entry in sorted(work.iterdir()):
            if _is_of_a_job(entry.name) and entry.name not in spared:
                logger.info("What job %s left behind is removed", entry.name)
                self.remove(entry)

    def wait(self, timeout_s: float, folder: Path | None = None) -> bool:
        """Wait until a folder is gone or given up, or all are; False if the time was not enough."""
        with self._condition:
            return self._condition.wait_for(
                lambda: folder not in self._under_way if folder else not self._under_way, timeout_s
            )

    def under_way(self) -> list[Path]:
        """Return the folders that are being removed."""
        with self._condition:
            return sorted(self._under_way)

    def left(self) -> dict[Path, str]:
        """Return the folders that could not be removed, with the reasons; now and then they are tried again."""
        now = time.monotonic()
        with self._condition:
            left = dict(self._left)
            is_time = bool(left) and now >= self._again_at
            if is_time:
                self._again_at = now + AGAIN_S
        for folder in left if is_time else ():
            self.remove(folder)
        return left

    def _remove(self, folder: Path) -> None:
        # Nothing of its job is wanted any more.
        end_kin(folder)
        reason = _removed(folder)
        with self._condition:
            self._under_way.discard(folder)
            if not reason:
                self._left.pop(folder, None)
            elif self._left.get(folder) != reason:
                logger.error("The work folder %s cannot be removed: %s", folder, reason)
                self._left[folder] = reason
                self._again_at = time.monotonic() + AGAIN_S
            self._condition.notify_all()


def _removed(folder: Path) -> str:
    """Remove a folder; return why that was not possible, "" if it was."""
    reasons: list[str] = []

    def note(_function: object, path: str, error: tuple[type, BaseException, object]) -> None:
        if not isinstance(error[1], FileNotFoundError):
            reasons.append(f"{path}: {getattr(error[1], 'strerror', None) or error[1]}")

    if folder.is_symlink() or folder.is_file():
        try:
            folder.unlink()
        except OSError as error:
            return f"{folder}: {error.strerror}"
        return ""
    shutil.rmtree(folder, onerror=note)
    return reasons[0] if reasons else ""


def _is_of_a_job(name: str) -> bool:
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False
