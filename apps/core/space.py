"""Room on the disk that holds VAR_DIR: asked for before something is written, and told of where there is none."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from apps.core import scratch

# So much is left to what the service itself has to write: logs, signs of life, its servers' data.
RESERVE_BYTES = 32 * 1024 * 1024
# What is sent lies there as the body, as the file in it and, until that is moved, as what is kept.
COPIES = 2
FULL = (errno.ENOSPC, errno.EDQUOT)
# PostgreSQL's disk is full (DiskFull).
_DATABASE_FULL = "53100"


class NoSpaceError(Exception):
    """There is no room for so many bytes."""

    def __init__(self, needed: int) -> None:
        super().__init__(f"There is no room for {needed} bytes.")
        self.needed = needed


def free_bytes() -> int:
    """Return how many bytes can be written below VAR_DIR."""
    folder = Path(settings.VAR_DIR)
    while not folder.exists():
        folder = folder.parent
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize


def embedded_lacks_room(name: str) -> bool:
    """Return whether the disk is full on which an embedded server ("postgres/cluster", "valkey") writes."""
    folder = Path(settings.VAR_DIR) / name
    try:
        state = os.statvfs(folder)
    except OSError:
        # None of ours, or none that can be looked at.
        return False
    return state.f_bavail * state.f_frsize < RESERVE_BYTES or state.f_files > state.f_favail == 0


def refusal(length: int, kind: str, others: int = 0) -> NoSpaceError | None:
    """Return why a body of `length` bytes (0: not told) and a content type cannot be taken; None if it can.

    `others` is how many bytes of further bodies lie there: their copies need room, too.

    One that stays in memory and brings no files needs no room.
    """
    if not kind.startswith("multipart/") and length <= settings.FILE_UPLOAD_MAX_MEMORY_SIZE:
        return None
    needed = COPIES * length
    return NoSpaceError(needed) if free_bytes() < needed + others + RESERVE_BYTES else None


def check_rest(size: int, kind: str, others: int = 0) -> None:
    """Raise NoSpaceError if, with `size` bytes of a body written, there is no room for the files in them.

    `others` is how many bytes of further bodies lie there.
    """
    needed = others + (size if kind.startswith("multipart/") else 0)
    if free_bytes() < needed + RESERVE_BYTES:
        raise NoSpaceError(0)


def is_missing(error: BaseException | None) -> bool:
    """Return whether something failed because a disk, or a quota on it, is full."""
    while error is not None:
        if isinstance(error, NoSpaceError) or (isinstance(error, OSError) and error.errno in FULL):
            return True
        if getattr(error, "sqlstate", None) == _DATABASE_FULL:
            return True
        error = error.__cause__
    return False


def words_of(error: BaseException) -> str:
    """Return in the reader's words what there is room for, and what was needed as far as that is known."""
    free = max(0, free_bytes() - RESERVE_BYTES)
    values = {"free": filesizeformat(free)}
    if isinstance(error, NoSpaceError) and error.needed > free:
        text = _(
            "The server's disk is too full for this: it needs %(needed)s and %(free)s are free. Nothing was stored:"
            " try again when its administrator has made room."
        )
        return text % {**values, "needed": filesizeformat(error.needed)}
    if free:
        text = _(
            "The server has no room, though %(free)s are free on its disk: that may hold as many files as it can, or"
            " have a quota, or the database's disk may be full. Nothing was stored: try again when its administrator"
            " has made room."
        )
        return text % values
    text = _(
        "The server's disk is full: %(free)s are free. Nothing was stored: try again when its administrator has made"
        " room."
    )
    return text % values


@contextmanager
def whole(path: Path) -> Iterator[None]:
    """Remove a file or folder again that the block does not come to write to its end."""
    try:
        yield
    except BaseException:
        scratch.remove(path)
        raise
