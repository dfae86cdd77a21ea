"""Backups beside each other, beside a start, and after one that was killed: each file is whole, each word true."""

import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from launch import backup, drafts, folder_lock, leftovers, supervisor
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


@pytest.mark.parametrize("name", ["fathom.backup", "fathom-20261126-151200.backup"])
def test_the_draft_of_one_that_was_killed_goes_with_the_next(tmp_path: Path, name: str) -> None:
    argv = [sys.executable, "-c", KILLED, str(tmp_path / name)]
    assert subprocess.run(argv, cwd=ROOT, check=False).returncode == 9
    (left,) = tmp_path.glob(f"{name}.*.new")
    assert left.stat().st_mode & 0o777 == 0o600
    others = tmp_path / "somebody.backup.abcdefgh.new"
    others.write_text("not ours")
    with pytest.raises(backup.BackupError, match="There is no database"):
        backup.make(Home(tmp_path / "none"), tmp_path / "fathom.backup")
    assert not left.exists()
    assert others.exists()


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
