"""The broker's files after a power cut: it refuses what is damaged, and nothing that is in them is worth keeping."""

import os
import shutil
import time
from pathlib import Path

from launch import owners

# A broker that refuses to start without its files, too, has another reason: they are not set aside again so soon (s).
_AGAIN_AFTER_S = 600.0


def remove_roots(data: Path) -> None:
    """Remove what a Valkey of root's left in another user's folder: that user's could not write it."""
    for path in data.glob("appendonlydir*"):
        if path.lstat().st_uid == 0:
            owners.remove_in(data, path.name)


class SetAside:
    """Sets the files of a Valkey that refused to start aside, as `appendonlydir.refused`."""

    def __init__(self, data: Path) -> None:
        self._files = data / "appendonlydir"
        self._at: float | None = None

    def _free_name(self) -> Path:
        """Return a name for what is set aside: what was before goes, unless it is another user's."""
        refused, number = self._files.with_name(f"{self._files.name}.refused"), 1
        while True:
            shutil.rmtree(refused, ignore_errors=True)
            if not os.path.lexists(refused):
                return refused
            number += 1
            refused = self._files.with_name(f"{self._files.name}.refused{number}")

    def __call__(self) -> str:
        """Set them aside and return that in words; empty if there are none, or it was done a moment ago."""
        now = time.monotonic()
        if not self._files.is_dir() or (self._at is not None and now - self._at < _AGAIN_AFTER_S):
            return ""
        self._at = now
        try:
            refused = self._free_name()
            self._files.rename(refused)
        except OSError as error:
            owner = owners.name_of(self._files.stat().st_uid)
            return f"refused to start; its files, {self._files} of {owner}, cannot be set aside: {error.strerror}"
        return f"refused to start; its files are set aside as {refused}, and it begins empty: nothing is lost by that"
