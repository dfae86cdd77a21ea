"""What a power cut, or a container that was cut off, leaves in the folder does not keep the service from starting."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from apps.core import whole_files
from launch import embedded, home
from launch.process import Child, ProcessError
from tests.launch import migrated as patterns
from tests.launch.conftest import Make

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="what is at work elsewhere cannot be told")


@pytest.fixture
def foreign() -> Iterator[int]:
    """Give the number of a living process of this user's that is no PostgreSQL."""
    with subprocess.Popen(["sleep", "600"]) as sleeper:
        yield sleeper.pid
        sleeper.kill()


@linux_only
@pytest.mark.parametrize("emptied", [False, True], ids=["a living number", "empty"])
def test_a_number_that_another_process_has_by_now_does_not_keep_postgres_from_starting(
    migrated: Path, tmp_path: Path, foreign: int, emptied: bool
) -> None:
    patterns.copy_to(tmp_path / "var", migrated / patterns.VAR)
    server = embedded.postgres(tmp_path / "var" / "postgres", durable=False)
    pid_file, socket_lock = server.process.leaves
    text = "" if emptied else f"{foreign}\n{server.process.cwd}\n0\n5432\n{server.sockets}\n*\n"
    for path in (pid_file, socket_lock):
        path.write_text(text)
        os.chown(path, pid_file.parent.stat().st_uid, -1)
    child = Child(server.process, log=tmp_path / "log")
    try:
        child.wait_ready()
        assert pid_file.read_text().split()[0] != str(foreign)
    finally:
        child.stop()


@linux_only
def test_a_server_that_lives_out_of_sight_keeps_its_files(
    migrated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patterns.copy_to(tmp_path / "var", migrated / patterns.VAR)
    server = embedded.postgres(tmp_path / "var" / "postgres", durable=False)
    first = Child(server.process, log=tmp_path / "log")
    try:
        first.wait_ready()
        # As from another container: its processes are not seen, and the kernel's memory is another one.
        monkeypatch.setattr("launch.process.Child._clear_workplace", lambda _self: None)
        monkeypatch.setattr("launch.claims._PATIENCE_S", 0.2)
        second = Child(server.process, log=tmp_path / "log2")
        assert second.popen.wait(30) == 1
        assert "already exists" in second.end_of_log()
        assert psycopg.connect(server.url).execute("SELECT 1").fetchone() == (1,)
    finally:
        monkeypatch.undo()
        first.stop()


def _manifest(files: Path) -> Path:
    return next(files.glob("*.manifest"))


def _nul_tail(files: Path) -> None:
    with next(files.glob("*.incr.aof")).open("ab") as file:
        file.write(b"\0" * 4096)


def _garbage(files: Path) -> None:
    path = next(files.glob("*.incr.aof"))
    path.write_bytes(b"what another file held\n" * 100)


def _cut_base(files: Path) -> None:
    path = next(files.glob("*.base.*"))
    path.write_bytes(path.read_bytes()[:20])


DAMAGES: dict[str, Callable[[Path], None]] = {
    "zeros behind it": _nul_tail,
    "garbage in it": _garbage,
    "an empty manifest": lambda files: _manifest(files).write_bytes(b"") and None,
    "a manifest of zeros": lambda files: _manifest(files).write_bytes(b"\0" * 80) and None,
    "its base gone": lambda files: next(files.glob("*.base.*")).unlink(),
    "its base cut": _cut_base,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_broker_that_refuses_its_files_begins_without_them(
    make: Make, events: list[tuple[str, str]], tmp_path: Path, damage: str
) -> None:
    server = embedded.valkey(tmp_path / "valkey")
    with make(server.process):
        pass
    files = tmp_path / "valkey" / "appendonlydir"
    DAMAGES[damage](files)
    with make(server.process):
        assert (tmp_path / "valkey" / "appendonlydir.refused").is_dir()
    assert any("set aside" in words for part, words in events if part == "valkey")
    server.forget_sockets()


def test_a_broker_that_refuses_without_its_files_too_ends_the_start(make: Make, tmp_path: Path) -> None:
    server = embedded.valkey(tmp_path / "valkey")
    with make(server.process):
        pass
    # A folder where its socket is to be is no damage of its files.
    (server.sockets / "valkey.sock").mkdir()
    with pytest.raises(ProcessError, match="valkey ended"):
        make(server.process).start()
    shutil.rmtree(server.sockets)


@pytest.mark.parametrize("left", [b"", b"\n", b"\0" * 65], ids=["empty", "blank", "zeros"])
def test_a_secret_that_was_lost_is_made_anew(tmp_path: Path, left: bytes) -> None:
    (tmp_path / "secret_key").write_bytes(left)
    own = home.Home(tmp_path)
    assert own.has_lost_secret()
    key = own.secret_key()
    assert len(key) >= 50
    assert not own.has_lost_secret()
    assert own.secret_key() == key == home.Home(tmp_path).secret_key()


def test_what_is_written_whole_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[Path, bool]] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append((Path(f"/proc/self/fd/{descriptor}").readlink(), (tmp_path / "kept").exists()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    whole_files.write_whole(tmp_path / "kept", "content")
    assert synced == [(tmp_path / "kept.new", False), (tmp_path, True)]
