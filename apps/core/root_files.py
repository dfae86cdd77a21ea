"""Files that root appends to in another user's folder: no link leads it away, and what it makes there is that user's.

`launch.owners` takes on the user's rights for this. They are those of a whole process, so a web process, which has
many threads, does without. Nothing but Python is imported here.
"""

import contextlib
import errno
import os
import stat
from pathlib import Path

_AS_PATH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY


def opener(name: str, flags: int) -> int:
    """Open a file as the opener of `open`; PermissionError where another user's link would lead root elsewhere."""
    if os.geteuid() != 0:
        return os.open(name, flags, 0o666)
    path = Path(name)
    place = _folder(path.parent)
    try:
        owner = os.fstat(place)
        if owner.st_uid == 0:
            return os.open(path.name, flags, 0o666, dir_fd=place)
        return _open_among_a_users(place, path.name, flags, owner)
    except OSError as error:
        error.filename = name
        raise
    finally:
        os.close(place)


def make_folder(folder: Path) -> None:
    """Make a folder unless it is there; what root makes is of whoever has the folder that it is in."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    if os.geteuid() != 0:
        return
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        # Another may have taken its name since; an empty one holds nothing of root's.
        if os.fstat(place).st_uid == 0 and not os.listdir(place):  # noqa: PTH208
            _give(place, folder.parent.stat())
    finally:
        os.close(place)


def set_aside(path: Path) -> None:
    """Give a file the name NAME.1 in its folder, in the place of what has it."""
    place = _folder(path.parent)
    try:
        os.rename(path.name, f"{path.name}.1", src_dir_fd=place, dst_dir_fd=place)
    finally:
        os.close(place)


def _folder(folder: Path) -> int:
    user = folder.lstat().st_uid
    place = os.open(folder, _AS_PATH)
    # A user's link may lead to that user's folders.
    if os.geteuid() == 0 and user not in (0, os.fstat(place).st_uid):
        os.close(place)
        raise PermissionError(errno.EPERM, "it is another user's link", str(folder))
    return place


def _open_among_a_users(place: int, name: str, flags: int, owner: os.stat_result) -> int:
    how = flags | os.O_NOFOLLOW | os.O_NONBLOCK
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(name, how | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=place)
        _give(descriptor, owner)
        return descriptor
    descriptor = os.open(name, how & ~os.O_CREAT, dir_fd=place)
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode) or state.st_nlink != 1 or state.st_uid not in (0, owner.st_uid):
        os.close(descriptor)
        raise PermissionError(errno.EPERM, "it is a link, or has a second name", name)
    return descriptor


def _give(descriptor: int, owner: os.stat_result) -> None:
    # Where the kernel lets nothing be given away it stays root's.
    with contextlib.suppress(OSError):
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
