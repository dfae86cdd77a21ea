"""As whom an embedded server runs, and what has to be that user's for it."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from launch import leash, owners


def identity_of_owner(data: Path) -> str:
    """Return the identity by which Valkey's files are of whoever has its folder, as that user's next start needs."""
    user = owners.user_of(data)
    with owners.acting(data):
        if user is None or os.geteuid() == 0:
            return leash.SAME
    return leash.set_id(user.st_uid, user.st_gid)


def uid_of(identity: str) -> int | None:
    """Return the number of the user that an identity takes on, None if it takes on none."""
    return int(identity.split(":")[1]) if identity.startswith("id:") else None


def give_all(folders: Iterable[Path], identity: str) -> None:
    """Give folders of root's to the user of an identity, if it is one."""
    uid = uid_of(identity)
    if uid is not None:
        gid = int(identity.split(":")[2])
        for folder in folders:
            _give(folder, uid, gid)


def _give(folder: Path, uid: int, gid: int) -> None:
    """Give a folder to the user as whom a server runs, if it is root's; never what another's link leads to."""
    if folder.stat().st_uid == uid:
        return
    link = folder.lstat()
    is_links = stat.S_ISLNK(link.st_mode) and link.st_uid == 0
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | (0 if is_links else os.O_NOFOLLOW))
    try:
        os.fchown(descriptor, uid, gid)
    finally:
        os.close(descriptor)
