"""A job's work folder: made for the job's user, filled with its files, read out at its end, and removed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .identity import Identity

# One plain name: no other folder, no hidden meaning for programs that take names for options.
NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._][A-Za-z0-9._+-]{0,99}")
# Names of which programs take something by themselves, unasked: settings in a home or a folder, modules, libraries.
LOADED = re.compile(
    r"\..*|.*\.(?:py[a-z]{0,2}|pth|pl|pm|rb|lua|js|jar|class|zip|egg|whl|so(?:\..*)?|la|a|o|sh)|ucx\.conf|pyvenv\.cfg"
    r"|openmpi-mca-params\.conf|mpiexec\.conf",
    re.IGNORECASE,
)
# The job's user may have put anything there: neither links are followed nor pipes waited for.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class BadName(ValueError):
    """A name of a file that may not be in a work folder."""


@dataclass(frozen=True)
class Collected:
    """A file that a job left behind: its first bytes, and its size as a whole."""

    name: str
    content: bytes
    size: int

    @property
    def is_cut(self) -> bool:
        """Return whether there was more than is kept."""
        return self.size > len(self.content)


class WorkFolder:
    """The folder in which one job works, of which only the job's user knows the inside."""

    def __init__(self, path: Path, identity: Identity) -> None:
        self.path = path
        self._identity = identity

    def make(self, files: Iterable[tuple[str, str]] = ()) -> None:
        """Make the folder with its files (name, text), for the job's user alone; OSError, or BadName for a name."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            for name, text in files:
                descriptor = os.open(checked(name), _WRITE, 0o600, dir_fd=place)
                with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                    self._hand_over(descriptor)
                    file.write(text)
            self._hand_over(place)
        finally:
            os.close(place)

    def collect(self, names: Iterable[str], limit: int) -> Iterator[Collected]:
        """Yield those of the files that the job made or was given, `limit` bytes of all of them together at most."""
        try:
            place = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            return
        try:
            for name in dict.fromkeys(names):
                file = self._read(place, checked(name), limit)
                if file is not None:
                    limit -= len(file.content)
                    yield file
        finally:
            os.close(place)

    def _read(self, place: int, name: str, limit: int) -> Collected | None:
        try:
            descriptor = os.open(name, _READ, dir_fd=place)
        except OSError:
            return None
        try:
            status = os.fstat(descriptor)
            # A second name of somebody else's file is not the job's to give.
            if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
                return None
            content = _read_up_to(descriptor, limit)
        except OSError:
            return None
        finally:
            os.close(descriptor)
        return Collected(name, content, max(status.st_size, len(content)))

    def _hand_over(self, descriptor: int) -> None:
        if self._identity.uid is not None and self._identity.gid is not None:
            os.fchown(descriptor, self._identity.uid, self._identity.gid)


def checked(name: str) -> str:
    """Return a name that stays within its folder, and that no program looks for unasked; BadName for any other."""
    if not NAME.fullmatch(name):
        raise BadName(f"{name!r} is no plain name of a file")
    if LOADED.fullmatch(name):
        raise BadName(f"{name!r} is a name that programs load by themselves")
    return name


def _read_up_to(descriptor: int, limit: int) -> bytes:
    parts = []
    while limit > 0:
        part = os.read(descriptor, min(limit, 1 << 20))
        if not part:
            break
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)
