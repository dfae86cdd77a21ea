"""The last step of a restore: what waits beside the folder's files takes their place, once the database has its own.

What a folder holds is exchanged, not the folder: it may be a link, or a disk of its own. What takes its place waits
within it, so that no room and no other disk is needed any more; what is cut off is carried to its end by the next
start or restore.
"""

import contextlib
import copy
import os
import zipfile
from pathlib import Path

from apps.core.whole_files import make_folder, move, put_in_place, sync, sync_all, write_whole
from launch import database, owners
from launch.home import Home

SECRET = "secret_key"  # noqa: S105
# Folders of files that rows of the database name.
FILES = ("imports", "archives")
# In each of them: what waits for the database, and what is on its way since the former files are gone.
_WAITING, _MOVING = ".restored", ".restoring"
# What the file system keeps in the root of a disk.
_NOT_OURS = ("lost+found",)
# In Home.restored: not before the database has its place, and from then on.
_WILL_BE_DUE, _IS_DUE = "due.new", "due"


class LastStepError(RuntimeError):
    """Files that cannot be exchanged; the text says which, why, and whether anything has changed."""


def is_draft(path: Path) -> bool:
    """Say whether a file or folder is part of a restore under way, and no file of the service."""
    return bool({_WAITING, _MOVING} & set(path.parts))


def place_of(home: Home, file: Path) -> Path | None:
    """Return what a backup packs, or a restore replaces, and a file of this name would be in; None if none."""
    places = [
        place for place in (*(home.folder / name for name in (*FILES, SECRET)), *_waiting(home)) if place.exists()
    ]
    real = Path(os.path.realpath(file))
    # By what they are: a disk may have several names.
    above = [path for path in (real, *real.parents) if path.exists()]
    return next((place for place in places if any(path.samefile(place) for path in above)), None)


def require_places(home: Home, archive: zipfile.ZipFile, *, has_own_secret: bool) -> None:
    """Make the folders in which files wait; LastStepError if one, or the secret, cannot be written."""
    discard(home)
    if stays := left(home):
        raise LastStepError(f"{' '.join(stays)} Until then nothing is restored; nothing has changed.")
    if (secret := _secret(archive)) and not has_own_secret:
        _require_secret(home.folder / SECRET, secret)
    for name in FILES:
        place = home.folder / name
        try:
            with owners.acting(home.folder):
                make_folder(place, mode=0o700)
            with owners.acting(place):
                (place / _WAITING).mkdir(mode=0o700)
            former = _former(place)
        except OSError as error:
            raise _refused(place, error) from error
        for entry in former:
            if os.path.ismount(entry):
                raise LastStepError(f"{entry} is a mount, which cannot be put away: unmount it; nothing has changed.")


def unpack(home: Home, archive: zipfile.ZipFile, *, has_own_secret: bool) -> None:
    """Put an archive's files, and its secret unless the environment has one, where they wait, on the disk.

    They are of whoever the folder is. LastStepError if they cannot be written; nothing has changed then.
    """
    draft = _draft(home)
    try:
        with owners.private():
            with owners.acting(home.folder):
                draft.mkdir()
                (draft / _WILL_BE_DUE).touch()
                if (secret := _secret(archive)) and not has_own_secret:
                    write_whole(draft / SECRET, secret)
            for name in FILES:
                with owners.acting(home.folder / name):
                    _extract(archive, home.folder, name)
        _wait_for_disk(home)
    except OSError as error:
        words = f"Its files cannot be written, nothing has changed: {error.strerror or error}."
        raise LastStepError(words) from error


def _extract(archive: zipfile.ZipFile, folder: Path, name: str) -> None:
    for info in archive.infolist():
        first, _, rest = info.filename.partition("/")
        if first == name and rest:
            moved = copy.copy(info)
            moved.filename = rest
            archive.extract(moved, folder / name / _WAITING)


def _wait_for_disk(home: Home) -> None:
    """Return when all that waits is on the disk."""
    for place in (home.folder / name for name in FILES):
        with owners.acting(place):
            sync_all(place / _WAITING)
            sync(place)
    with owners.acting(home.folder):
        sync_all(_draft(home))


def announce(home: Home) -> None:
    """Have what waits put in its place by whoever finds the database in its own."""
    with owners.acting(home.folder):
        move(_draft(home), home.restored)


def discard(home: Home) -> None:
    """Remove what waits: the database did not take its place, or all has its own. `left` says what stays."""
    for path in _waiting(home):
        with contextlib.suppress(OSError):
            owners.remove_in(path.parent, path.name)


def left(home: Home) -> list[str]:
    """Say what a restore left that is at its end, or was given up, and who can remove it."""
    words = []
    for path in _waiting(home):
        with contextlib.suppress(OSError):
            owner = owners.name_of(path.lstat().st_uid)
            who = "only root" if owner == "root" else f"only {owner} or root"
            words.append(f"{path} is left of a restore that was cut off: {who} can remove it (rm -r).")
    return words


def _waiting(home: Home) -> list[Path]:
    return [home.restored, _draft(home), *(home.folder / name / _WAITING for name in FILES)]


def carry_out(home: Home) -> None:
    """Put all in its place, from wherever an earlier try was cut off; LastStepError says what is in the way."""
    secret = home.restored / SECRET
    try:
        with owners.acting(home.folder):
            # From here on no database has to be asked.
            if not (home.restored / _IS_DUE).exists():
                move(home.restored / _WILL_BE_DUE, home.restored / _IS_DUE)
            content = secret.read_bytes() if secret.exists() else None
        for name in FILES:
            _exchange(home.folder / name)
        if content is not None:
            _put_secret(home.folder / SECRET, content, home.folder)
        # Accounts are those of the backup: the next start makes none.
        home.note_account()
        # At once: what is left of it says that something is to be done.
        with owners.acting(home.folder):
            move(home.restored, _draft(home))
        discard(home)
    except OSError as error:
        raise LastStepError(
            f"The database of the backup is in place, its files are not all: {error.filename or home.folder}:"
            f" {error.strerror}. Mend that: the next start, or restore, carries it out."
        ) from error


def finish(home: Home) -> bool:
    """Carry out the last step of a restore that was cut off, or put its files away, and say which: True the first.

    The folder is locked. The database is reached only where the restore was cut off at the moment of its exchange.
    """
    is_due = home.restored.exists()
    if is_due and not (home.restored / _IS_DUE).exists():
        with database.reached(home) as address:
            is_due = database.was_replaced(address)
    if is_due:
        carry_out(home)
    else:
        discard(home)
    return is_due


def _secret(archive: zipfile.ZipFile) -> bytes:
    return archive.read(SECRET) if SECRET in archive.namelist() else b""


def _draft(home: Home) -> Path:
    return home.restored.with_name("restored.new")


def _former(place: Path) -> list[Path]:
    return [entry for entry in place.iterdir() if entry.name not in (_WAITING, _MOVING, *_NOT_OURS)]


def _exchange(place: Path) -> None:
    waiting, moving = place / _WAITING, place / _MOVING
    if waiting.exists():
        for entry in _former(place):
            owners.remove_in(place, entry.name)
        # What is on its way says that the former files are gone.
        with owners.acting(place):
            sync(place)
            move(waiting, moving)
    if moving.exists():
        with owners.acting(place):
            for entry in moving.iterdir():
                entry.rename(place / entry.name)
            sync(place)
            moving.rmdir()


def _require_secret(path: Path, secret: bytes) -> None:
    """Raise LastStepError if a file that holds another secret cannot be written, such as one that is mounted."""
    try:
        with owners.by_maker_of_link(path), contextlib.suppress(FileNotFoundError), path.open("r+b") as file:
            file.read(0)
    except OSError as error:
        if path.is_dir() or path.read_bytes() != secret:
            raise _refused(path, error) from error


def _put_secret(path: Path, secret: bytes, folder: Path) -> None:
    real = path.resolve()
    # What an administrator's link leads to is not in the folder.
    is_elsewhere = path.is_symlink() and path.lstat().st_uid == 0
    with owners.acting(real.parent if is_elsewhere else folder):
        with contextlib.suppress(FileNotFoundError, PermissionError):
            if real.read_bytes() == secret:
                return
        draft = real.with_name(f"{real.name}.new")
        try:
            write_whole(draft, secret)
            owners.give(draft, real, folder)
            put_in_place(draft, real)
            return
        except OSError:
            # A file that is a mount takes no other's place; what is cut off here is written again.
            for rest in (draft, draft.with_name(f"{draft.name}.new")):
                rest.unlink(missing_ok=True)
    with owners.by_maker_of_link(path), os.fdopen(owners.open_in(real.parent, real.name, os.O_RDWR), "r+b") as file:
        file.truncate()
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())


def _refused(path: Path, error: OSError) -> LastStepError:
    return LastStepError(
        f"{path} cannot be written ({error.strerror}), as the backup's has to take its place; nothing has changed."
    )
