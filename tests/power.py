"""What a power cut would leave: which files and names are on the disk for certain, by what was waited for."""

import os
from pathlib import Path
from typing import Any

import pytest


class Disk:
    """Notes each fsync; what was written, made or renamed since then may be lost."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._held: dict[int, Any] = {}
        real = os.fsync

        def fsync(descriptor: int) -> None:
            real(descriptor)
            self._held[os.fstat(descriptor).st_ino] = _content(Path(f"/proc/self/fd/{descriptor}").readlink())

        monkeypatch.setattr(os, "fsync", fsync)

    def may_lose(self, folder: Path) -> list[str]:
        """Return what of a folder may be lost: files whose content, and folders whose names, were not waited for."""
        found = [path for path in (folder, *folder.rglob("*")) if not path.is_symlink()]
        return sorted(str(path) for path in found if not self._holds(path))

    def _holds(self, path: Path) -> bool:
        held, content = self._held.get(path.stat().st_ino), _content(path)
        # What was removed since is no loss.
        return held is not None and (content <= held if isinstance(content, frozenset) else content == held)


def _content(path: Path) -> Any:
    return frozenset(entry.name for entry in path.iterdir()) if path.is_dir() else path.read_bytes()
