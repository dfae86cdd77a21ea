"""Files that outlive their process, whole and on the disk or not there: kill, full disk and power cut leave what was.

A name, or a row that says that a file is there, can be on the disk long before what the file holds: so each waits.
Nothing but Python is imported here, for what starts the service writes its files by this, too.
"""

import errno
import os
from pathlib import Path

from apps.core.regular_files import require_no_device

_NO_SUCH_THING = (errno.EINVAL, errno.ENOTSUP)


def write_whole(path: Path, content: str | bytes, *, mode: int = 0o600) -> None:
    """Put content into a file with the given rights; OSError leaves the file as it was."""
    draft = path.with_name(path.name + ".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    put_in_place(draft, path)


def put_in_place(draft: Path, path: Path) -> None:
    """Give a draft, a file or a folder, that is written its name, once what it holds is on the disk."""
    require_no_device(path)
    sync_all(draft)
    draft.replace(path)
    sync(path.parent)


def move(path: Path, to: Path) -> None:
    """Give a file or folder, whose content is on the disk, another name, and wait until it has it for good."""
    path.replace(to)
    for folder in {path.parent, to.parent}:
        sync(folder)


def make_folder(path: Path, *, mode: int = 0o777) -> None:
    """Make a folder, and those above it, unless they are there, and wait for the disk."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(mode=mode, parents=True, exist_ok=True)
    for folder in missing:
        sync(folder.parent)


def sync_all(path: Path) -> None:
    """Wait until a file, or a folder with all that is in it, is on the disk; its own name may not be."""
    if path.is_dir():
        for entry in path.iterdir():
            if not entry.is_symlink():
                sync_all(entry)
    sync(path)


def sync(path: Path) -> None:
    """Wait until what a file holds, or which names a folder has, is on the disk."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:
        # A folder that may be written and not listed, such as a drop box: nobody can wait for it.
        if not path.is_dir():
            raise
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems, such as those of other machines, know no waiting for a folder.
        if error.errno not in _NO_SUCH_THING or not path.is_dir():
            raise
    finally:
        os.close(descriptor)
