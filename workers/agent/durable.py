"""What the agent keeps is on its node's disk before anything is said of it."""

from __future__ import annotations

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Wait until the names that a folder has are on the disk: those of new files, those that were given."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def put_in_place(draft: Path, path: Path) -> None:
    """Give a draft, whose content is on the disk, its name for good."""
    draft.replace(path)
    sync_folder(path.parent)
