"""Backups beside each other, beside a start, and after one that was killed: each file is whole, each word true."""

import os
import re
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from psycopg.conninfo import make_conninfo

from launch import backup, database, drafts, folder_lock, leftovers, supervisor
from launch.home import ROOT, HeldError, Home, HomeError
from launch.service import Service
from tests.launch.kept import databases, served
from tests.launch.watching import wait_for

pytestmark = pytest.mark.usefixtures("no_database_of_the_tests")
KILLED = """
import os, sys
from pathlib import Path
from launch import drafts
with drafts.draft_of(Path(sys.argv[1])) as (path, draft):
    draft.write(b"secrets")
    draft.flush()
    os._exit(9)
"""
KILLED_HALF_WAY = """
import os, sys
from launch import database
with database.tool("pg_dump", sys.argv[1]) as tool:
    tool.start(stdout=-3).wait()
    os._exit(9)
"""


def test_two_at_once_to_one_file_both_end_and_it_is_whole(var: Path, tmp_path: Path) -> None:
    file = tmp_path / "fathom.backup"
    with served(var), ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(backup.make, Home(var), file) for _backup in range(2)]:
            done.result()
    with backup.opened(file) as one:
        assert one.dump.read(5) == b"PGDMP"
    # One that still writes is not disturbed, and what it writes is its own.
    with drafts.draft_of(file) as (path, draft):
        draft.write(b"what another has so far")
        backup.make(Home(var), file)
        assert path.exists()
        draft.seek(0)
        assert draft.read() == b"what another has so far"
    assert sorted(tmp_path.glob("fathom.backup*")) == [file]


@pytest.mark.parametrize("name", ["fathom.backup", "fathom-2026-11-26.backup", "of Thursday"])
def test_the_draft_of_one_that_was_killed_goes_with_the_next(tmp_path: Path, name: str) -> None:
    argv = [sys.executable, "-c", KILLED, str(tmp_path / name)]
    assert subprocess.run(argv, cwd=ROOT, check=False).returncode == 9
    (left,) = tmp_path.iterdir()
    assert left.stat().st_mode & 0o777 == 0o600
    others = tmp_path / "somebody.backup.abcdefgh.new"
    others.write_text("not ours")
    with pytest.raises(backup.BackupError, match="There is no database"):
        backup.make(Home(tmp_path / "none"), tmp_path / "fathom.backup")
    assert not left.exists()
    assert others.exists()


@pytest.mark.django_db
def test_one_that_is_killed_half_way_leaves_no_temporary_files(tmp_path: Path) -> None:
    named = {
        name: connection.get_connection_params().get(name) for name in ("host", "port", "user", "password", "dbname")
    }
    argv = [
        sys.executable,
        "-c",
        KILLED_HALF_WAY,
        make_conninfo(**{name: text for name, text in named.items() if text}),
    ]
    assert subprocess.run(argv, cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}, check=False).returncode == 9
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def backed_up(var: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return what makes a backup of the folder's service to a file of a name, and returns its path."""

    def make(name: str = "fathom.backup") -> Path:
        with served(var):
            backup.make(Home(var), tmp_path / name)
        return tmp_path / name

    return make


@pytest.mark.parametrize("when", [0, -86400.0, 4354819200], ids=["1970", "1969", "2108"])
def test_files_of_any_time_are_kept_as_they_are(var: Path, backed_up: Callable[[], Path], when: float) -> None:
    names = ["secret_key", "imports/1/0", "archives/1.zip"]
    for name in names:
        path = var / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("as it was")
        os.utime(path, (when, when))
    with backup.opened(backed_up()) as one:
        assert one.archive
        assert {name: one.archive.read(name) for name in names} == dict.fromkeys(names, b"as it was")


@pytest.mark.parametrize("was_there", [True, False])
def test_a_link_stays_one_and_what_it_leads_to_is_the_backup(
    backed_up: Callable[[], Path], tmp_path: Path, was_there: bool
) -> None:
    target = tmp_path / "another disk" / "kept.backup"
    target.parent.mkdir()
    if was_there:
        target.write_text("yesterday's")
    (tmp_path / "fathom.backup").symlink_to(target)
    backed_up()
    assert (tmp_path / "fathom.backup").is_symlink()
    assert zipfile.is_zipfile(target)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["fathom.backup"]
    assert list(target.parent.iterdir()) == [target]


def test_a_backup_waits_for_a_service_that_starts(
    var: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, starting = tmp_path / "fathom.backup", Home(var)
    # What a killed service said of itself is no word of this one.
    starting.write_state({"pid": 1, "database_url": "postgresql://nobody@127.0.0.1:1/gone"})
    starting.lock()
    failures: list[BaseException] = []

    def make() -> None:
        try:
            backup.make(Home(var), file)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=make)
    thread.start()
    said: list[str] = []
    assert wait_for(lambda: said.append(capsys.readouterr().out) or "waits" in "".join(said) or failures, 20)
    assert not failures
    assert "waits: a service starts, or stops, on" in "".join(said)
    # It is written down where its database will be before that has started.
    starting.write_state({"pid": 1, "database_url": "postgresql://nobody@127.0.0.1:1/none-yet"})
    time.sleep(1)
    assert not failures
    with database.reached(starting) as address:
        starting.write_state({"pid": 1, "address": "http://127.0.0.1:1", "database_url": address})
        thread.join(60)
    starting.unlock()
    assert not failures
    assert zipfile.is_zipfile(file)


def test_a_folder_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(backup.BackupError, match=r"is a folder: say which file in it \(FILE=.*fathom-.*\.backup\)"):
        backup.make(Home(tmp_path / "none"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_start_waits_for_a_backup_and_says_for_which(tmp_path: Path) -> None:
    at_it, said = Home(tmp_path), list[str]()
    at_it.lock(folder_lock.holder("a backup to /b/fathom.backup"))
    starting = Service(tmp_path, report=lambda _part, words: said.append(words))
    ended: list[BaseException] = []

    def start() -> None:
        try:
            starting.start()
        except supervisor.Stopped as error:
            ended.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    wait_for(lambda: bool(said), 20)
    assert "is in use by a backup to /b/fathom.backup, process" in said[0]
    # Who stops it meanwhile does not wait.
    starting.request_stop()
    thread.join(20)
    assert ended
    with pytest.raises(HeldError, match=r"a backup to /b/fathom\.backup"):
        Home(tmp_path).lock()
    threading.Timer(0.5, at_it.unlock).start()
    began, mine = time.monotonic(), Home(tmp_path)
    assert folder_lock.take(mine, lambda _part, words: said.append(words), "supervisor")
    assert time.monotonic() - began > 0.3
    # Whoever has it now is no backup.
    with pytest.raises(HomeError, match="already runs"):
        Home(tmp_path).lock()
    mine.unlock()


def test_what_a_killed_restore_left_is_told_with_its_size_and_its_draft_dropped(
    var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    with served(var) as address:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CREATE DATABASE fathom_restoring")
            connection.execute("CREATE DATABASE fathom_replaced")
        monkeypatch.setenv("DATABASE_URL", address)
        leftovers.tell(address, lambda _part, words: said.append(words))
        assert databases(address) == {"fathom", "postgres", "fathom_restoring", "fathom_replaced"}
        monkeypatch.delenv("DATABASE_URL")
        leftovers.tell(address, lambda _part, words: said.append(words))
        assert databases(address) == {"fathom", "postgres", "fathom_replaced"}
    assert [re.sub(r"\(\d+ [kM]B\)", "(SIZE)", words) for words in sorted(said[:2])] == [
        f"a restore that was cut off left the database {name} (SIZE): the next restore drops it, or do it by hand"
        f" (DROP DATABASE {name})"
        for name in ("fathom_replaced", "fathom_restoring")
    ]
    assert any(re.search(r"fathom_restoring \(\d+ [kM]B\), which is dropped", words) for words in said[2:])
