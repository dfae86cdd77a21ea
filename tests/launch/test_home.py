"""One service at a time on a folder, secrets made once, and a clear word where a folder cannot be used."""

import errno
import fcntl
import os
import shutil
import stat
from pathlib import Path

import pytest

from launch import home


def test_a_second_service_on_the_same_folder_is_refused_with_the_address_of_the_first(tmp_path: Path) -> None:
    first, second = home.Home(tmp_path), home.Home(tmp_path)
    first.lock()
    first.write_state({"pid": 42, "address": "http://127.0.0.1:8000", "parts": {}})
    with pytest.raises(home.HomeError, match=r"already runs.*8000.*process 42.*FATHOM_VAR"):
        second.lock()
    first.unlock()
    second.lock()
    assert second.read_state() is None
    second.unlock()


@pytest.mark.parametrize("cleared", ["run/lock", "run"])
def test_what_is_cleared_away_beside_a_service_leaves_its_folder_taken(tmp_path: Path, cleared: str) -> None:
    running = home.Home(tmp_path)
    running.lock()
    path = tmp_path / cleared
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(home.HomeError, match="already runs"):
        home.Home(tmp_path).lock()
    running.unlock()
    again = home.Home(tmp_path)
    again.lock()
    again.unlock()


def test_where_only_files_lock_the_file_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flock = fcntl.flock

    def as_on_nfs(descriptor: int, how: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EBADF, "Bad file descriptor")
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", as_on_nfs)
    running = home.Home(tmp_path)
    running.lock()
    with pytest.raises(home.HomeError, match="already runs"):
        home.Home(tmp_path).lock()
    running.unlock()


def test_a_folder_that_cannot_be_made_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(home.HomeError, match=r"file.*FATHOM_VAR"):
        home.Home(tmp_path / "file").lock()


def test_the_secret_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    secret = home.Home(tmp_path).secret_key()
    assert len(secret) >= 50
    assert home.Home(tmp_path).secret_key() == secret
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_the_state_is_for_its_owner_only_and_a_broken_one_is_none(tmp_path: Path) -> None:
    place = home.Home(tmp_path)
    place.lock()
    place.write_state({"pid": os.getpid()})
    assert (place.run / "state.json").stat().st_mode & 0o777 == 0o600
    (place.run / "state.json").write_text("{")
    assert place.read_state() is None
    place.unlock()


def test_the_first_account_is_made_once(tmp_path: Path) -> None:
    place = home.Home(tmp_path)
    assert (place.has_account(), place.was_account_begun()) == (False, False)
    place.begin_account()
    assert (place.has_account(), place.was_account_begun()) == (False, True)
    place.note_account()
    assert (home.Home(tmp_path).has_account(), place.was_account_begun()) == (True, False)


def test_the_folder_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FATHOM_VAR", str(tmp_path))
    assert home.default_folder() == tmp_path
    monkeypatch.delenv("FATHOM_VAR")
    assert home.default_folder() == home.ROOT / "var"
