"""What root restores into another user's folder is that user's, for nobody else to read; what is not is told."""

import os
import pwd
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from launch import last_step, owners
from launch.home import ROOT, Home
from tests.power import Disk

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
FILES = {
    "imports/7/figures.csv": "a,b\n",
    "imports/8/deep/er.csv": "c\n",
    "archives/3.zip": "PK",
    "secret_key": "new",
}
USER = pwd.getpwnam("nobody")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    with zipfile.ZipFile(tmp_path / "files.zip", "w") as made:
        for name, content in FILES.items():
            made.writestr(name, content)
    return tmp_path / "files.zip"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return a folder that root has not locked yet, and that another user's service has used."""
    own = Home(tmp_path / "var")
    (own.folder / "imports" / "1").mkdir(parents=True)
    (own.folder / "secret_key").write_text("of before")
    for path in (own.folder, *own.folder.rglob("*")):
        os.chown(path, USER.pw_uid, USER.pw_gid)
    open_to_all(own.folder)
    return own


def open_to_all(folder: Path) -> None:
    """Let every user come as far as to a folder, as far as who runs the tests may say so."""
    for parent in folder.parents:
        if parent.stat().st_uid == os.geteuid():
            parent.chmod(parent.stat().st_mode | 0o011)


def unpack(home: Home, archive: Path) -> None:
    """Come as far as to the last step of a restore."""
    home.lock("a restore")
    with zipfile.ZipFile(archive) as opened:
        last_step.require_places(home, opened, has_own_secret=False)
        last_step.unpack(home, opened, has_own_secret=False)
    last_step.announce(home)


def restore(home: Home, archive: Path) -> None:
    unpack(home, archive)
    os.close(owners.open_in(home.logs, "postgres.log", os.O_WRONLY | os.O_CREAT))
    last_step.carry_out(home)
    home.unlock()


def others(folder: Path, uid: int = USER.pw_uid) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.lstat().st_uid != uid]


@needs_root
def test_what_root_restores_is_of_the_folders_user(home: Home, archive: Path) -> None:
    restore(home, archive)
    assert others(home.folder) == []
    assert home.secret_key() == "new"
    assert home.has_account()


@needs_root
def test_what_waits_is_that_users_already_who_may_have_to_carry_it_out(home: Home, archive: Path) -> None:
    unpack(home, archive)
    assert others(home.folder) == []
    home.unlock()


@needs_root
def test_a_folder_of_roots_stays_roots_and_the_secret_becomes_its_users(home: Home, archive: Path) -> None:
    for path in (home.folder / "imports", home.folder / "secret_key"):
        os.chown(path, 0, 0)
    restore(home, archive)
    assert {name.partition("/")[0] for name in others(home.folder)} == {"imports"}
    assert others(home.folder / "imports", 0) == []
    assert home.secret_key() == "new"


@needs_root
def test_a_place_that_is_a_third_users_keeps_its_owner(home: Home, archive: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "disk"
    elsewhere.mkdir()
    os.chown(elsewhere, 1234, 1234)
    (home.folder / "imports" / "1").rmdir()
    (home.folder / "imports").rmdir()
    (home.folder / "imports").symlink_to(elsewhere)
    restore(home, archive)
    assert elsewhere.stat().st_uid == 1234
    assert others(elsewhere, 1234) == []


def test_what_is_restored_is_its_owners_to_read_only(home: Home, archive: Path) -> None:
    restore(home, archive)
    paths = [path for name in ("imports", "archives") for path in (home.folder / name).rglob("*")]
    assert len(paths) == 6
    assert [path for path in [*paths, home.folder / "secret_key"] if path.stat().st_mode & 0o077] == []


def test_what_is_restored_is_on_the_disk_before_it_is_announced(
    home: Home, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    with zipfile.ZipFile(archive) as opened:
        last_step.require_places(home, opened, has_own_secret=False)
        last_step.unpack(home, opened, has_own_secret=False)
    waiting = [home.folder / "imports", home.folder / "archives", home.folder / "restored.new"]
    # The folder of an import of before was there already.
    assert [path for folder in waiting for path in disk.may_lose(folder)] == [str(home.folder / "imports" / "1")]
    last_step.announce(home)
    assert disk.may_lose(home.restored) == []
    assert str(home.folder) not in disk.may_lose(home.folder)
    last_step.carry_out(home)
    assert disk.may_lose(home.folder) == []


@needs_root
@pytest.mark.parametrize("name", ["secret_key", "run"])
def test_what_another_user_has_in_the_folder_is_told_in_words(home: Home, name: str) -> None:
    home.lock()
    home.note_account()
    home.unlock()
    path = home.folder / name
    os.chown(path, 0, 0)
    path.chmod(0o700)
    as_user = ["setpriv", f"--reuid={USER.pw_uid}", f"--regid={USER.pw_gid}", "--clear-groups"]
    env = {"FATHOM_VAR": str(home.folder), "PATH": os.environ["PATH"], "HOME": str(home.folder)}
    env |= {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1"}
    argv = [*as_user, sys.executable, "-B", "-m", "launch", "serve"]
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert str(path) in done.stderr
    assert "ermi" in done.stderr
    assert "Traceback" not in done.stderr
