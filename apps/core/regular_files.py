"""Names that may be of devices, pipes or sockets, where a file is wanted. Nothing but Python is imported here."""

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_WORDS = "It is no file, but a device, a pipe or a socket"


def require_no_device(path: Path) -> None:
    """Raise OSError if a device, a pipe or a socket has the name: a file in its place takes it from everybody."""
    with contextlib.suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise OSError(errno.EINVAL, _WORDS, str(path))


def open_found(path: Path) -> BinaryIO:
    """Open a file to read that was found in a folder where others may write: no link, and no pipe that nobody fills.

    OSError if it is none.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    file = os.fdopen(descriptor, "rb")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise OSError(errno.EINVAL, _WORDS, str(path))
    return file
