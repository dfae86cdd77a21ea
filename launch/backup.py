"""A backup in one file: the database, the secret, and files that wait to be imported. What else is in the folder is
made anew (the broker's, reports that were rendered) or is a node's own (agents)."""

import contextlib
import datetime
import json
import os
import shutil
import stat
import subprocess
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from apps.core.regular_files import require_no_device
from apps.core.whole_files import put_in_place
from launch import database, drafts, folder_lock, owners, supervisor
from launch.home import Home
from launch.last_step import FILES, SECRET, is_draft, place_of

DUMP, ABOUT = "database.dump", "fathom.json"
FORMAT = 1
_CHUNK = 1024 * 1024
# What takes longer says so, as often (s).
TOLD_EVERY_S = 2.0
_DUMP_MAGIC = b"PGDMP"


class BackupError(RuntimeError):
    """A backup that cannot be made or read; the text says why."""


def usual_name() -> str:
    """Return the name of a backup that was given none: of this second."""
    return f"fathom-{datetime.datetime.now(datetime.UTC):%Y%m%d-%H%M%S}.backup"


def make(home: Home, file: Path) -> None:
    """Write a backup of the folder's service, whether it runs or not; the file has its name once it is whole."""
    try:
        # A link stays one: what it leads to is replaced.
        file = owners.resolved(file)
    except OSError as error:
        words = f"{file} cannot be written, for {error.filename} leads elsewhere ({error.strerror})"
        raise BackupError(f"{words}: say which file (FILE=).") from error
    _require_place(home, file)
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(owners.pinned(file.parent))
        except OSError as error:
            raise BackupError(f"{file} cannot be written: {error.strerror}.") from error
        _write(home, file, folder)


def _write(home: Home, file: Path, folder: Path) -> None:
    """Write the backup as `file`, whose folder is had by the path `folder`."""
    # What was killed left them, and they hold secrets.
    drafts.sweep(folder)
    with _address(home, file) as address:
        try:
            with drafts.draft_of(folder / file.name) as (path, draft):
                with zipfile.ZipFile(draft, "w") as archive:
                    _dump(address, archive)
                    with _told_what_cannot_be_read(home):
                        _add_files(home, archive)
                    about = {"format": FORMAT, "made_at": datetime.datetime.now(datetime.UTC).isoformat()}
                    archive.writestr(ABOUT, json.dumps(about))
                draft.flush()
                size = path.stat().st_size
                put_in_place(path, folder / file.name)
        except OSError as error:
            raise BackupError(f"{file} cannot be written: {error.strerror or error}.") from error
    supervisor.print_event("backup", f"{file} has {_size(size)}; it holds secrets: keep it to yourself")


def require_outside(home: Home, file: Path) -> None:
    """Raise BackupError for a file that would hold itself as a backup, or be removed by what is restored from it."""
    if place := place_of(home, file):
        raise BackupError(
            f"{file} is in {place}, which each backup packs and each restore replaces: keep backups elsewhere."
        )


def _require_place(home: Home, file: Path) -> None:
    """Raise BackupError if something else than a former backup would be lost at the place of this one."""
    if file.is_dir():
        raise BackupError(f"{file} is a folder: say which file in it (FILE={file / usual_name()}).")
    try:
        require_no_device(file)
    except OSError as error:
        raise BackupError(f"{file} cannot be written ({error.strerror}): say which file (FILE=).") from error
    require_outside(home, file)


@contextmanager
def opened(file: Path) -> Iterator["Backup"]:
    """Give the backup of a file, or what pg_dump -Fc wrote; BackupError if it is neither, or damaged."""
    try:
        with owners.by_maker_of_link(file):
            require_no_device(file)
            whole = file.open("rb")
    except OSError as error:
        raise BackupError(f"{file} cannot be read: {error.strerror}.") from error
    with whole:
        is_dump = whole.read(len(_DUMP_MAGIC)) == _DUMP_MAGIC
        whole.seek(0)
        if is_dump:
            yield Backup(None, whole, os.fstat(whole.fileno()).st_size)
            return
        try:
            with zipfile.ZipFile(whole) as archive:
                _check(archive, file)
                with archive.open(DUMP) as dump:
                    yield Backup(archive, dump, archive.getinfo(DUMP).file_size)
        except zipfile.BadZipFile as error:
            raise BackupError(f"{file} is no whole backup of Fathom: {error}.") from error


class Backup:
    """What is in a backup: the dump, to be read once, and the files beside it."""

    def __init__(self, archive: zipfile.ZipFile | None, dump: IO[bytes], size: int) -> None:
        self.dump, self.size = dump, size
        # None for what pg_dump wrote, which holds the database only.
        self.archive = archive


@contextmanager
def told(part: str, words: Callable[[], str]) -> Iterator[None]:
    """Say every two seconds what is being done, while it is."""
    is_over = threading.Event()

    def tell() -> None:
        while not is_over.wait(TOLD_EVERY_S):
            supervisor.print_event(part, words())

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def copy(source: IO[bytes], target: IO[bytes], part: str, words: str, size: int = 0) -> None:
    """Copy what may be long, and tell how far it is."""
    done = 0
    of_all = f" of {_size(size)}" if size else ""
    with told(part, lambda: f"{words}: {_size(done)}{of_all}"):
        while chunk := source.read(_CHUNK):
            target.write(chunk)
            done += len(chunk)


@contextmanager
def _address(home: Home, file: Path) -> Iterator[str]:
    """Give the address of the database: of the service that runs, or started for this."""
    if address := os.environ.get("DATABASE_URL", ""):
        yield address
        return
    if not (home.folder / "postgres" / "cluster").exists():
        raise BackupError(
            f"There is no database in {home.folder}: say with FATHOM_VAR where the service's folder is."
        )
    what = f"a backup to {file}"
    if address := folder_lock.take_or_find(home, supervisor.print_event, "backup", what, database.answers):
        yield address
        return
    try:
        with database.reached(home) as address:
            yield address
    finally:
        home.unlock()


def _dump(address: str, archive: zipfile.ZipFile) -> None:
    with database.tool("pg_dump", address, "--format=custom") as tool:
        process = tool.start(stdout=subprocess.PIPE)
        assert process.stdout
        try:
            with archive.open(DUMP, "w", force_zip64=True) as target:
                copy(process.stdout, target, "backup", "the database is written")
            if process.wait() != 0:
                raise BackupError(f"The database could not be read: {tool.words()}")
        finally:
            process.kill()
            process.wait()


@contextmanager
def _told_what_cannot_be_read(home: Home) -> Iterator[None]:
    try:
        yield
    except PermissionError as error:
        raise BackupError(
            f"Of {home.folder} {error.filename} cannot be read ({error.strerror}): it is another user's, or a link."
        ) from error


def _add_files(home: Home, archive: zipfile.ZipFile) -> None:
    key = home.folder / SECRET
    with owners.by_maker_of_link(key), contextlib.suppress(FileNotFoundError), key.open("rb") as file:
        _add(archive, file, SECRET)
    for name in FILES:
        with contextlib.suppress(FileNotFoundError), owners.held(home.folder / name) as place:
            for folder, folders, files, descriptor in os.fwalk(".", dir_fd=place, onerror=_require):
                folders[:] = sorted(inner for inner in folders if not is_draft(Path(inner)))
                # A backup that was written here by an earlier version, and cut off, is no file of the service.
                for inner in sorted(name for name in files if not name.endswith(drafts.END)):
                    _add_file(archive, Path(name, folder, inner), descriptor)


def _require(error: OSError) -> None:
    """Let nothing be missing without a word but what goes meanwhile."""
    if not isinstance(error, FileNotFoundError):
        raise error


def _add_file(archive: zipfile.ZipFile, path: Path, folder: int) -> None:
    """Add a file of an open folder. The service makes no links: what one leads to is not the service's."""
    # What is imported or given up meanwhile goes.
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISREG(os.lstat(path.name, dir_fd=folder).st_mode):
            with os.fdopen(owners.open_at(folder, path.name, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                # Another thing may have taken its name since.
                if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    _add(archive, file, str(path))


def _add(archive: zipfile.ZipFile, file: IO[bytes], name: str) -> None:
    state = os.fstat(file.fileno())
    # A zip knows of no earlier day, and of none after 2107.
    made = min(max(time.localtime(state.st_mtime)[:6], (1980, 1, 1, 0, 0, 0)), (2107, 12, 31, 23, 59, 58))
    info = zipfile.ZipInfo(name, made)
    info.file_size = state.st_size
    with archive.open(info, "w") as target:
        shutil.copyfileobj(file, target, _CHUNK)


def _check(archive: zipfile.ZipFile, file: Path) -> None:
    try:
        archive.getinfo(DUMP)
        version = int(json.loads(archive.read(ABOUT))["format"])
    except (KeyError, TypeError, ValueError) as error:
        raise BackupError(f"{file} is no whole backup of Fathom: {error}.") from error
    if version > FORMAT:
        raise BackupError(f"{file} was made by a later version of Fathom: restore it with that one.")
    with told("restore", lambda: f"{file.name} is checked"):
        damaged = archive.testzip()
    if damaged:
        raise BackupError(f"{file} is damaged: {damaged} is not what was written.")


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
