"""Folders of Unix sockets in the temporary folder: where they are, and which of them no service has any more."""

import contextlib
import hashlib
import os
import platform
import re
import socket
import stat
import tempfile
import time
from pathlib import Path

# PostgreSQL's, beside its socket.
_LOCK = ".s.PGSQL.5432.lock"
_KEY = re.compile(r"[0-9a-f]{12}")
# A server that starts has no socket yet (s).
_LEAST_AGE_S = 3600.0
# Who is asked by a connection and is at work may be long in taking it (s).
_PATIENCE_S = 1.0


def places_of(data: Path) -> list[Path]:
    """Return where the folder of a data folder's sockets may be, in the order in which they are tried."""
    key = hashlib.sha256(str(data).encode()).hexdigest()[:12]
    return [parent / f"{_prefix()}{key}" for parent in _parents()]


def sweep() -> int:
    """Remove this user's folders in which nobody listens, and return how many: those of killed services stay there.

    One whose service was killed a moment ago is made again as that starts.
    """
    removed = 0
    for parent in dict.fromkeys(_parents()):
        for folder in sorted(parent.glob(f"{_prefix()}*")):
            with contextlib.suppress(OSError):
                if _KEY.fullmatch(folder.name.removeprefix(_prefix())) and _is_left(folder):
                    for path in folder.iterdir():
                        path.unlink()
                    folder.rmdir()
                    removed += 1
    return removed


def _parents() -> tuple[Path, Path]:
    return Path(tempfile.gettempdir()), Path("/tmp")  # noqa: S108


def _prefix() -> str:
    # The temporary folder may be on a disk of several machines: who listens on another is not heard here.
    machine = hashlib.sha256(platform.node().encode()).hexdigest()[:6]
    return f"fathom-{os.getuid()}-{machine}-"


def _is_left(folder: Path) -> bool:
    status = folder.lstat()
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) == 0o700
    return is_ours and time.time() - status.st_mtime > _LEAST_AGE_S and all(map(_is_dead, folder.iterdir()))


def _is_dead(path: Path) -> bool:
    """Return whether this is a socket on which nobody listens, or what PostgreSQL has beside one."""
    mode = path.lstat().st_mode
    if not stat.S_ISSOCK(mode):
        return stat.S_ISREG(mode) and path.name == _LOCK
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(_PATIENCE_S)
        try:
            asking.connect(str(path))
        except ConnectionRefusedError:
            return True
    return False
