"""The lock of the agent's folder: held by one process at a time, and looked after, for a file can be removed."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from pathlib import Path

NAME = "lock"
_ATTEMPTS = 5


class Lock:
    """A folder's lock that this process holds; it is let go when the process ends, or by `close`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._node = ""

    @classmethod
    def take(cls, folder: Path) -> Lock | None:
        """Return the folder's lock, or None if another process holds it; OSError if it cannot be made."""
        path = folder / NAME
        for _attempt in range(_ATTEMPTS):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
                return None
            lock = cls(path, descriptor)
            if lock.is_in_place():
                return lock
            # Removed between the two.
            lock.close()
        return None

    @property
    def file(self) -> str:
        """Return the device and inode of the file that is held."""
        return file_of(os.fstat(self._descriptor))

    def is_in_place(self) -> bool:
        """Return whether the file that is held is the one that another process would find."""
        try:
            return self.file == file_of(self.path.stat())
        except OSError:
            return False

    def renew(self) -> bool:
        """Hold the file that is in the place of the removed one, made if there is none; False if another holds it."""
        fresh = Lock.take(self.path.parent)
        if fresh is None:
            return False
        self.close()
        self._descriptor = fresh._descriptor
        self.sign(self._node)
        return True

    def sign(self, node: str) -> None:
        """Write into the file which node's agent holds it, and as which process, for whoever finds it taken."""
        self._node = node
        text = json.dumps({"pid": str(os.getpid()), "node": node}).encode()
        # What cannot be written says nothing; the lock holds nevertheless.
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, text, 0)

    def close(self) -> None:
        """Let it go."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


def holder_of(folder: Path) -> dict[str, str]:
    """Return what the holder of a folder's lock wrote into it: "node" and "pid"; {} for an earlier version's."""
    try:
        signed = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in signed.items()} if isinstance(signed, dict) else {}


def file_of(status: os.stat_result) -> str:
    """Return what tells a file from every other of this machine, for as long as somebody has it open."""
    return f"{status.st_dev:x}:{status.st_ino:x}"
