"""In another user's folder root does what that user may do, and no more: what it makes there is that user's at once.

Whoever may write a folder can put a link, or another file, in the place of what root is about to open. Root follows
it with that user's rights, so that it leads nowhere where the user could not go.
"""

import contextlib
import errno
import functools
import os
import pwd
import shutil
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Rights are of the whole process: who starts another one meanwhile waits.
LOCK = threading.RLock()
_FOLLOWS_NONE = "root follows no link of another user's"
# As many as the kernel follows: they may lead in a circle.
_MOST_LINKS = 40
_AS_PATH = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY


def user_of(place: Path) -> os.stat_result | None:
    """Return by whose rights root acts in a folder: its owner's; those of who made it if it is a link of a user's.

    None if these are root's, if this is not root, or if there is no such folder.
    """
    if os.geteuid() != 0:
        return None
    try:
        state = place.lstat()
        if stat.S_ISLNK(state.st_mode) and state.st_uid == 0:
            state = place.stat()
    except FileNotFoundError:
        return None
    return state if state.st_uid else None


@contextmanager
def acting(place: Path) -> Iterator[None]:
    """Have the rights of `user_of` a folder while the block lasts.

    Those of root stay where the kernel lets no rights be given up (a line says so), or that user cannot get there.
    """
    with LOCK, _as_user(user_of(place), place):
        yield


@contextmanager
def held(folder: Path) -> Iterator[int]:
    """Give a folder as a descriptor: what is done by it is done there, whatever takes the folder's name meanwhile.

    Through a link of a user's it is had, and all in the block done, by that user's rights; PermissionError if root
    cannot have them.
    """
    state = folder.lstat()
    is_link = stat.S_ISLNK(state.st_mode)
    user = state if is_link and state.st_uid and os.geteuid() == 0 else None
    with LOCK, _as_user(user, folder):
        if user is not None and os.geteuid() == 0:
            raise PermissionError(errno.EPERM, _FOLLOWS_NONE, str(folder))
        descriptor = os.open(folder, _AS_PATH | (0 if is_link else os.O_NOFOLLOW))
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def open_in(folder: Path, name: str, flags: int, mode: int = 0o600) -> int:
    """Open a file of a folder by the rights of `user_of` the folder, which nothing can take the place of meanwhile.

    What root left in a user's folder is opened as well, if it is a file and has no other name.
    """
    try:
        with held(folder) as descriptor:
            return open_at(descriptor, name, flags, mode)
    except OSError as error:
        error.filename = str(folder / name)
        raise


def open_at(folder: int, name: str, flags: int, mode: int = 0o600) -> int:
    """Open a file as `open_in` does, of a folder that is open; no pipe in its place is waited for."""
    owner = os.fstat(folder)
    try:
        with LOCK, _as_user(owner if owner.st_uid and os.geteuid() == 0 else None, None):
            descriptor = os.open(name, flags | os.O_NONBLOCK, mode, dir_fd=folder)
            os.set_blocking(descriptor, True)
            return descriptor
    except PermissionError:
        if os.geteuid() != 0:
            raise
        return _opened_of_root(name, flags & ~os.O_CREAT, folder)


@contextmanager
def by_maker_of_link(path: Path) -> Iterator[None]:
    """Follow a user's link by that user's rights only; PermissionError if root cannot have them."""
    state = path.lstat() if path.is_symlink() else None
    user = state if state is not None and state.st_uid and os.geteuid() == 0 else None
    with LOCK, _as_user(user, None):
        if user is not None and os.geteuid() == 0:
            raise PermissionError(errno.EPERM, _FOLLOWS_NONE, str(path))
        yield


def resolved(path: Path) -> Path:
    """Return what a path leads to; PermissionError for root if a link on the way was made by another user."""
    way, is_at = list(reversed(path.absolute().parts[1:])), Path("/")
    links = 0
    while way:
        name = way.pop()
        if name == "..":
            is_at = is_at.parent
        elif not (link := is_at / name).is_symlink():
            is_at = link
        elif os.geteuid() == 0 and link.lstat().st_uid:
            raise PermissionError(errno.EPERM, _FOLLOWS_NONE, str(link))
        elif (links := links + 1) > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        else:
            target = link.readlink()
            is_at = Path("/") if target.is_absolute() else is_at
            way += reversed([part for part in target.parts if part != "/"])
    return is_at


@contextmanager
def pinned(folder: Path) -> Iterator[Path]:
    """Give a path of a folder whose own has no links (`resolved`) that stays the folder's, whatever takes its name.

    OSError if a link is in the place of one on the way by now. Where the system has no such paths (/proc) it is the
    same one.
    """
    descriptor = os.open("/", _AS_PATH)
    try:
        for part in folder.parts[1:]:
            inner = os.open(part, _AS_PATH | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        place = Path(f"/proc/self/fd/{descriptor}")
        yield place if place.is_dir() else folder
    finally:
        os.close(descriptor)


def remove_in(folder: Path, name: str) -> None:
    """Remove a file, a link or a folder with all in it, and follow no link on the way; OSError if it cannot be."""
    with contextlib.suppress(FileNotFoundError), held(folder) as descriptor:
        if stat.S_ISDIR(os.lstat(name, dir_fd=descriptor).st_mode):
            shutil.rmtree(name, dir_fd=descriptor)
        else:
            os.unlink(name, dir_fd=descriptor)


def give(made: Path, *others: Path) -> None:
    """Give a file that this process made, in a folder of root's, to the owner of the first of `others` that is not
    root's; it stays root's where the kernel lets none be given, which a line says."""
    states = [path.stat() for path in others if path.exists()]
    owner = next((state for state in states if state.st_uid), None)
    if os.geteuid() != 0 or owner is None:
        return
    descriptor = os.open(made, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        state = os.fstat(descriptor)
        if state.st_uid == 0 and state.st_nlink == 1:
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
    except OSError as error:
        _tell(owner.st_uid, error.strerror or str(error))
    finally:
        os.close(descriptor)


@contextmanager
def private() -> Iterator[None]:
    """Make files and folders that nobody but their owner may read, whatever their maker says."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def _opened_of_root(name: str, flags: int, pinned: int) -> int:
    descriptor = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=pinned)
    state = os.fstat(descriptor)
    if state.st_uid or state.st_nlink != 1 or not stat.S_ISREG(state.st_mode):
        os.close(descriptor)
        raise PermissionError(errno.EPERM, "it is a link, or has a second name", name)
    return descriptor


@contextmanager
def _as_user(user: os.stat_result | None, place: Path | None) -> Iterator[None]:
    groups, group = os.getgroups(), os.getegid()
    if user is None or not _take_on(user):
        yield
        return
    try:
        if place is not None and not _reaches(place):
            _take_back(groups, group)
        yield
    finally:
        _take_back(groups, group)


def _take_on(user: os.stat_result) -> bool:
    own = _groups(user)
    groups, group = os.getgroups(), os.getegid()
    try:
        os.setgroups(own)
        os.setegid(user.st_gid if user.st_gid in own else own[0])
        os.seteuid(user.st_uid)
    except OSError as error:
        # Without the capability, or in a user namespace that has no such user (EINVAL).
        with contextlib.suppress(OSError):
            _take_back(groups, group)
        _tell(user.st_uid, error.strerror or str(error))
        return False
    return True


def _take_back(groups: list[int], group: int) -> None:
    os.seteuid(0)
    os.setegid(group)
    os.setgroups(groups)


def _groups(user: os.stat_result) -> list[int]:
    """Return the groups of a user, its own first; of one without a name that of its folder, unless it is root's."""
    try:
        known = pwd.getpwuid(user.st_uid)
    except KeyError:
        return [user.st_gid or user.st_uid]
    return [known.pw_gid, *os.getgrouplist(known.pw_name, known.pw_gid)]


def _reaches(place: Path) -> bool:
    try:
        place.stat()
    except PermissionError:
        return False
    return True


def name_of(uid: int) -> str:
    """Return a user's name, or the number of one who has none."""
    with contextlib.suppress(KeyError):
        return pwd.getpwuid(uid).pw_name
    return f"the user id {uid}"


@functools.cache
def _tell(uid: int, why: str) -> None:
    words = f"what root makes in the folder of the user id {uid} stays root's: its rights cannot be given up ({why})"
    sys.stderr.write(f"fathom: {words}\n")
