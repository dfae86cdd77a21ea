"""A backup in the place of what is there: the old state or the new, whatever happens in between.

The backup is put into a database of its own, brought up to this version and compared with what that expects; then
it takes the name of the one that is there, in one transaction.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg

from launch import backup, database, folder_lock, last_step, orphans
from launch.backup import Backup, told
from launch.home import ROOT, Home
from launch.supervisor import print_event

# A service on another machine is seen in the database within this (s): its timetable looks at it every few seconds.
_LOOKED_FOR_S = 6.0


class RestoreError(RuntimeError):
    """A restore that was not carried out; nothing has changed, and the text says why."""


def restore(home: Home, file: Path) -> None:
    """Put a backup in the place of the folder's database and files, while no service runs on them.

    HomeError, BackupError, DatabaseError or RestoreError say what keeps it from being done; nothing has changed then.
    LastStepError says whether anything has.
    """
    backup.require_outside(home, file)
    with backup.opened(file) as one:
        home.lock(folder_lock.holder(f"a restore of {file}"))
        try:
            orphans.end(str(home.folder))
            last_step.finish(home)
            with _places(home, one), database.reached(home) as address:
                _require_nobody(address)
                _replace(home, address, one)
        except psycopg.Error as error:
            raise RestoreError(f"The database refuses it: {error}") from error
        finally:
            home.unlock()
    print_event("restore", f"{file} is in place; start the service (make serve)")


@contextmanager
def _places(home: Home, one: Backup) -> Iterator[None]:
    """Have room made for the backup's files beside those that are there, and nothing left of it."""
    try:
        if one.archive:
            last_step.require_places(home, one.archive, has_own_secret=_has_own_secret())
        yield
    finally:
        if not home.restored.exists():
            last_step.discard(home)


def _replace(home: Home, address: str, one: Backup) -> None:
    with database.beside(address) as new:
        _load(new, one)
        _migrate(home, new)
        if one.archive:
            last_step.unpack(home, one.archive, has_own_secret=_has_own_secret())
        with _uninterrupted():
            _take_place(home, address, has_files=one.archive is not None)


def _take_place(home: Home, address: str, *, has_files: bool) -> None:
    """Put the database in its place, then the files; the next start or restore ends what is cut off in between."""
    if has_files:
        last_step.announce(home)
    try:
        database.put_in_place(address)
    except BaseException:
        if not database.was_replaced(address):
            last_step.discard(home)
        raise
    if has_files:
        last_step.carry_out(home)
    else:
        home.note_account()


def _has_own_secret() -> bool:
    return bool(os.environ.get("SECRET_KEY"))


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Have whoever stops this wait for the last step, of a moment."""
    stops = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _require_nobody(address: str) -> None:
    """Raise RestoreError while anybody else uses the database."""
    # The folder's own database has no other service than the folder.
    until = time.monotonic() + (_LOOKED_FOR_S if os.environ.get("DATABASE_URL") else 0.0)
    with told("restore", lambda: "is there a service on this database?"):
        while True:
            if who := database.sessions(address):
                raise RestoreError(f"The database is in use ({', '.join(who)}): stop the service, then restore.")
            if time.monotonic() >= until:
                return
            time.sleep(0.1)


def _load(address: str, one: Backup) -> None:
    options = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-acl")
    with database.tool("pg_restore", address, *options) as tool:
        process = tool.start(stdin=subprocess.PIPE)
        assert process.stdin
        try:
            try:
                backup.copy(one.dump, process.stdin, "restore", "the database is read", one.size)
                process.stdin.close()
            except BrokenPipeError:
                # It says itself why it ended.
                pass
            with told("restore", lambda: "keys and indexes are made"):
                process.wait()
            if process.returncode != 0:
                raise RestoreError(f"The backup could not be read, nothing has changed: {tool.words()}")
        finally:
            process.kill()
            process.wait()
    with database.connected(address) as connection:
        row = connection.execute("SELECT to_regclass('django_migrations'), to_regclass('campaigns_campaign')")
        if None in (row.fetchone() or (None,)):
            raise RestoreError("This is a dump of another database than Fathom's; nothing has changed.")


def _migrate(home: Home, address: str) -> None:
    """Bring a database up to this version, and compare it with what that expects."""
    argv = [sys.executable, "manage.py", "migrate_pending", "--verbosity", "0"]
    with told("restore", lambda: "steps of later versions are made, and all of it is compared"):
        done = subprocess.run(argv, cwd=ROOT, env=_env(home, address), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RestoreError(
            f"The backup is not fit for this version, nothing has changed: {done.stderr.strip()[-1500:]}"
        )
    with database.connected(address) as connection, told("restore", lambda: "statistics are made"):
        connection.execute("ANALYZE")


def _env(home: Home, address: str) -> Mapping[str, str]:
    return {
        **os.environ,
        orphans.MARK: str(home.folder),
        "DJANGO_SETTINGS_MODULE": "apps.config.settings.production",
        "FATHOM_VAR": str(home.folder),
        "SECRET_KEY": os.environ.get("SECRET_KEY") or home.secret_key(),
        "DATABASE_URL": address,
    }
