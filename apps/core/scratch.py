"""The one place of temporary files: below VAR_DIR, a folder for each process, known to be left when that is gone.

A process that is killed cleans nothing up, and an upload that is cut off leaves what had come of it. So each process
holds a lock on its folder: one whose lock is free has no owner any more and is removed, by whoever starts next or by
the hourly sweep, which also takes files that nobody has written to for long.
"""

import contextlib
import fcntl
import logging
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any

from django.conf import settings

logger = logging.getLogger(__name__)

# Nothing here is worked on for so long without being written to.
LEFT_AFTER = timedelta(hours=1)
_LOCK = "lock"
# Between the making of a folder and its lock; whoever dies there leaves nothing but it.
_LOCKED_WITHIN = timedelta(minutes=1)
_owned: dict[Path, tuple[Path, int]] = {}


class UploadFolder(os.PathLike[str]):
    """This process's folder, for settings, which are read before there is one."""

    def __fspath__(self) -> str:
        return str(folder())

    def __str__(self) -> str:
        return str(folder())


def folder() -> Path:
    """Return this process's own folder, which it holds until it ends."""
    base = _base()
    own = _owned.get(base)
    if own is None or not own[0].is_dir():
        path = base / uuid.uuid4().hex
        path.mkdir(parents=True, mode=0o700)
        lock = os.open(path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        own = _owned[base] = (path, lock)
    return own[0]


@contextmanager
def new_folder(prefix: str, within: Path | None = None) -> Iterator[Path]:
    """Give a folder that is removed at the end, `within` another one if files are to be moved there."""
    with tempfile.TemporaryDirectory(prefix=f"{prefix}-", dir=within or folder()) as name:
        yield Path(name)


def new_file() -> IO[bytes]:
    """Return a file without a name, which is gone when it is closed."""
    return tempfile.TemporaryFile(dir=folder())


def new_spool(most_bytes: int) -> Any:
    """Return a file without a name that is in memory up to so many bytes; the folder is made when it grows longer."""
    own: Any = UploadFolder()
    return tempfile.SpooledTemporaryFile(most_bytes, dir=own)


def sweep(*, now: datetime) -> None:
    """Remove folders without an owner, and of the others what nobody has written to for LEFT_AFTER."""
    base = _base()
    if not base.is_dir():
        return
    for path in base.iterdir():
        if path.is_dir() and _is_owned(path, now):
            for inner in path.iterdir():
                if inner.name != _LOCK:
                    remove_if_left(inner, now=now)
        else:
            remove(path)


def remove_if_left(path: Path, *, now: datetime) -> bool:
    """Remove a file or a folder in which nothing was written for LEFT_AFTER; say whether it was."""
    with contextlib.suppress(FileNotFoundError):
        written = max(item.lstat().st_mtime for item in (path, *path.rglob("*")))
        if now.timestamp() - written > LEFT_AFTER.total_seconds():
            remove(path)
            return True
    return False


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        # The others are swept all the same.
        logger.warning("%s cannot be removed: %s", path, error)


def _is_owned(path: Path, now: datetime) -> bool:
    try:
        lock = os.open(path / _LOCK, os.O_RDWR)
    except FileNotFoundError:
        with contextlib.suppress(FileNotFoundError):
            return now.timestamp() - path.stat().st_mtime < _LOCKED_WITHIN.total_seconds()
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _base() -> Path:
    return Path(settings.VAR_DIR) / "tmp"
