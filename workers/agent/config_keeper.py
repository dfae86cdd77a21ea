"""The configuration, looked after: without it, and the token in it, the next start of the agent loses the node."""

from __future__ import annotations

import contextlib
import logging
import os
from dataclasses import dataclass
from pathlib import Path

from . import config
from .disks import Disk, Errand, Hung
from .durable import sync_folder

logger = logging.getLogger(__name__)

_DRAFT = config.FILE + ".back"


@dataclass(frozen=True)
class _Held:
    """What was read last, and how the file and its folder were then."""

    data: bytes
    file: os.stat_result
    folder: os.stat_result

    def is_of(self, file: os.stat_result) -> bool:
        return (file.st_ino, file.st_size, file.st_mtime_ns) == (
            self.file.st_ino,
            self.file.st_size,
            self.file.st_mtime_ns,
        )


class ConfigKeeper:
    """Sees that the folder holds a configuration to start with, and puts back the one read last where it holds none.

    What its owner has changed meanwhile is read as well, so that nothing older is put back.
    """

    def __init__(self, folder: Path, disk: Disk) -> None:
        # By a link at the start: what is made anew is made where it led to.
        self._folder = folder.resolve()
        self._path = self._folder / config.FILE
        self._looking = Errand[str](disk)
        self._held: _Held | None = None
        self._reason = self._look()

    def trouble(self) -> tuple[str, str] | None:
        """Look, and return the code and the words of what is wrong; as it was last if the disk is slow."""
        with contextlib.suppress(Hung):
            self._reason = self._looking.do(self._look)
        return ("config-unusable", self._reason) if self._reason else None

    def _look(self) -> str:
        try:
            self._read()
        except FileNotFoundError:
            return self._put_back()
        except config.ConfigError as error:
            return str(error)
        except OSError as error:
            return f"{self._path} cannot be read: {error.strerror}"
        return ""

    def _read(self) -> None:
        state = self._path.stat()
        if self._held is not None and self._held.is_of(state):
            return
        data = self._path.read_bytes()
        config.parse(data, self._path)
        self._held = _Held(data, state, self._folder.stat())

    def _put_back(self) -> str:
        if self._held is None:
            return f"{self._path} was removed before it was read"
        try:
            self._write(self._held)
        except OSError as error:
            return f"{self._path} was removed and cannot be put back: {error.strerror}"
        logger.warning("The file %s was removed while this agent works: it is put back", self._path)
        return ""

    def _write(self, held: _Held) -> None:
        with contextlib.suppress(FileExistsError):
            self._folder.mkdir(mode=0o700)
        place = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            _make_alike(place, held.folder)
            if os.fstat(place).st_uid != held.folder.st_uid:
                raise PermissionError(0, "its folder is another user's now")
            self._write_in(place, held)
        finally:
            os.close(place)
        sync_folder(self._folder)

    def _write_in(self, place: int, held: _Held) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_DRAFT, dir_fd=place)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(_DRAFT, flags, 0o600, dir_fd=place), "wb") as file:
                file.write(held.data)
                file.flush()
                _make_alike(file.fileno(), held.file)
                os.fsync(file.fileno())
            # Takes the place of nothing: the node may be enrolled anew at this moment.
            os.link(_DRAFT, config.FILE, src_dir_fd=place, dst_dir_fd=place, follow_symlinks=False)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(_DRAFT, dir_fd=place)


def _make_alike(descriptor: int, former: os.stat_result) -> None:
    """Give what this process has just made the owner and the rights of before; what is another's stays as it is."""
    state = os.fstat(descriptor)
    if state.st_uid != os.geteuid():
        return
    with contextlib.suppress(PermissionError):
        if (state.st_uid, state.st_gid) != (former.st_uid, former.st_gid):
            os.fchown(descriptor, former.st_uid, former.st_gid)
        os.fchmod(descriptor, former.st_mode & 0o777)
