"""What the agent keeps is on its node's disk before anything is said of it."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

_NO_SUCH_THING = (errno.EINVAL, errno.ENOTSUP)
# What is written under another name first bears it until it is whole.
DRAFT = ".new"


def sync_folder(folder: Path) -> None:
    """Wait until the names that a folder has are on the disk: those of new files, those that were given."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        # A folder that may be written and not listed: nobody can wait for it.
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems, such as those of other machines, know no waiting for a folder.
        if error.errno not in _NO_SUCH_THING:
            raise
    finally:
        os.close(descriptor)


def put_in_place(draft: Path, path: Path) -> None:
    """Give a draft, whose content is on the disk, its name for good."""
    draft.replace(path)
    sync_folder(path.parent)


def move(path: Path, to: Path) -> None:
    """Give a file, whose content is on the disk, another name for good, which may be on another disk.

    OSError leaves it where it was, and nothing else.
    """
    try:
        put_in_place(path, to)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        draft = to.with_name(to.name + DRAFT)
        try:
            shutil.copyfile(path, draft)
            with draft.open("rb") as file:
                os.fsync(file.fileno())
            put_in_place(draft, to)
        finally:
            draft.unlink(missing_ok=True)
        path.unlink()
