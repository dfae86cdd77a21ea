"""Folders of sockets that killed services left in the temporary folder go at a start, and no others."""

import os
import platform
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from launch import embedded, leftovers, socket_folders
from launch.home import Home

OLD = time.time() - 2 * 3600


def _bound(path: Path) -> socket.socket:
    opened = socket.socket(socket.AF_UNIX)
    opened.bind(str(path))
    return opened


def _dead_socket(folder: Path) -> None:
    _bound(folder / ".s.PGSQL.5432").close()
    (folder / ".s.PGSQL.5432.lock").write_text("1")


def _deep(folder: Path) -> None:
    (folder / "inner").mkdir()


def _file(folder: Path) -> None:
    (folder / "notes").write_text("mine")


def _readable(folder: Path) -> None:
    folder.chmod(0o755)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a temporary folder with a path that is short enough for sockets."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.setattr(socket_folders, "_parents", lambda: (folder, folder))
    yield folder
    shutil.rmtree(folder)


def _folder(place: Path, key: str = "0123456789ab", *, fill: Callable[[Path], None] | None = None) -> Path:
    folder = place / f"{socket_folders._prefix()}{key}"
    folder.mkdir(mode=0o700)
    if fill:
        fill(folder)
    os.utime(folder, (OLD, OLD))
    return folder


@pytest.mark.parametrize("fill", [None, _dead_socket])
def test_one_in_which_nobody_listens_goes_at_a_start(
    place: Path, tmp_path: Path, fill: Callable[[Path], None] | None
) -> None:
    folder = _folder(place, fill=fill)
    lines: list[str] = []
    leftovers.clear(Home(tmp_path), lambda _part, words: lines.append(words))
    assert not folder.exists()
    assert any("1 folder(s)" in words for words in lines)


@pytest.mark.parametrize("fill", [_deep, _file, _readable])
def test_one_that_holds_something_else_stays(place: Path, fill: Callable[[Path], None]) -> None:
    folder = _folder(place, fill=fill)
    assert socket_folders.sweep() == 0 and folder.exists()


def test_one_with_a_listener_stays_whatever_lies_beside_its_socket(place: Path) -> None:
    folder = _folder(place, fill=_dead_socket)
    with _bound(folder / "valkey.sock") as opened:
        opened.listen()
        os.utime(folder, (OLD, OLD))
        assert socket_folders.sweep() == 0
    assert (folder / ".s.PGSQL.5432").exists()


def test_one_of_a_service_that_starts_stays(place: Path, tmp_path: Path) -> None:
    data = tmp_path / ("long" * 30)
    folder = embedded.socket_folder(data)
    assert folder.parent == place
    os.utime(folder, (OLD, OLD))
    assert embedded.socket_folder(data) == folder
    assert socket_folders.sweep() == 0 and folder.exists()


def test_no_other_name_no_link_and_nobody_elses_is_touched(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = [_folder(place, key) for key in ("0123456789ab-1", "short", "0123456789AB")]
    away = place / "away"
    away.mkdir(mode=0o700)
    os.utime(away, (OLD, OLD))
    link = place / f"{socket_folders._prefix()}ba9876543210"
    link.symlink_to(away)
    theirs = place / socket_folders._prefix().replace(f"-{os.getuid()}-", f"-{os.getuid() + 1}-")
    theirs = theirs.with_name(f"{theirs.name}0123456789ab")
    theirs.mkdir(mode=0o700)
    os.utime(theirs, (OLD, OLD))
    assert socket_folders.sweep() == 0
    # Of the right name, and made by somebody else.
    me = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: me + 1)
    assert socket_folders.sweep() == 0
    assert all(path.exists() for path in (*others, away, link, theirs))


def test_one_of_another_machine_on_the_same_disk_stays(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _folder(place, fill=_dead_socket)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(platform, "node", lambda: "another.example.org")
        assert socket_folders.sweep() == 0 and folder.exists()
    assert socket_folders.sweep() == 1
