"""Whatever a user puts in root's way in the user's own folder, root touches nothing that the user could not."""

import contextlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from launch import backup, embedded, last_step, owners, process
from launch.home import Home, HomeError
from tests.launch.test_owners import USER, archive, home, needs_root, open_to_all, others, restore

__all__ = ["archive", "home"]
pytestmark = needs_root

FOLDERS = ("run", "log", "agents", "imports", "archives", "imports/.restored", "restored", "restored.new")
FILES = ("secret_key", "run/lock", "run/state.json", "run/state.json.new", "log/postgres.log", "secret_key.new")
HELD = ("lock", "postgres.log", "state.json", "1", "cron.d/job")


@pytest.fixture
def of_root(tmp_path: Path) -> Path:
    """Return a folder of root's, with files of the names that a service has, too."""
    folder = tmp_path / "of_root"
    for name in HELD:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"root's {name}")
        (folder / name).chmod(0o600)
    return folder


def state_of(folder: Path) -> dict[str, tuple[int, int, str]]:
    return {
        str(path): (path.lstat().st_uid, path.lstat().st_mode, path.read_text() if path.is_file() else "")
        for path in (folder, *folder.rglob("*"))
    }


def plant(home: Home, name: str, make: Callable[[Path], None]) -> None:
    """Have the folder's user put something in the place of a file or folder of his."""
    place = home.folder / name
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    with owners.acting(home.folder):
        place.parent.mkdir(exist_ok=True)
    make(place)


def as_user(home: Home, make: Callable[[], None]) -> None:
    with owners.acting(home.folder):
        assert os.geteuid() == USER.pw_uid
        make()


def all_of_it(home: Home, archive: Path) -> None:
    """Do all that root does in a folder, as far as it is let."""
    for step in (lambda: restore(home, archive), lambda: last_step.finish(home), home.secret_key, home.unlock):
        try:
            step()
        except (HomeError, last_step.LastStepError, OSError):
            home.unlock() if not (home.folder / "run").is_symlink() else None


@pytest.mark.parametrize("name", FOLDERS)
def test_a_link_to_a_folder_of_roots_leaves_it_as_it_was(home: Home, archive: Path, of_root: Path, name: str) -> None:
    plant(home, name, lambda place: as_user(home, lambda: place.symlink_to(of_root)))
    before = state_of(of_root)
    all_of_it(home, archive)
    assert state_of(of_root) == before


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["symlink", "hard link"])
def test_a_link_to_a_file_of_roots_leaves_it_as_it_was(
    home: Home, archive: Path, of_root: Path, name: str, kind: str
) -> None:
    file = of_root / "lock"
    if kind == "symlink":
        plant(home, name, lambda place: as_user(home, lambda: place.symlink_to(file)))
    else:
        # Many kernels let no user do so, others do.
        plant(home, name, lambda place: place.hardlink_to(file))
    before = state_of(of_root)
    all_of_it(home, archive)
    assert state_of(of_root) == before


def test_an_upload_of_roots_name_is_removed_as_a_link(home: Home, archive: Path, of_root: Path) -> None:
    plant(home, "imports/1", lambda place: as_user(home, lambda: place.symlink_to(of_root)))
    before = state_of(of_root)
    restore(home, archive)
    assert state_of(of_root) == before
    assert sorted(path.name for path in (home.folder / "imports").iterdir()) == ["7", "8"]


def test_what_takes_a_folders_place_meanwhile_is_not_had(home: Home, of_root: Path) -> None:
    place = home.folder / "imports"
    with owners.held(place) as descriptor:
        place.rename(home.folder / "away")
        as_user(home, lambda: place.symlink_to(of_root))
        assert os.fstat(descriptor).st_ino == (home.folder / "away").stat().st_ino
    before = state_of(of_root)
    with pytest.raises(PermissionError):
        owners.open_in(place, "lock", os.O_RDWR)
    with pytest.raises(OSError, match="ermission"):
        owners.remove_in(place, "lock")
    assert state_of(of_root) == before


def test_what_root_makes_in_an_empty_folder_is_its_users(tmp_path: Path, archive: Path) -> None:
    own = Home(tmp_path / "new")
    own.folder.mkdir()
    os.chown(own.folder, USER.pw_uid, USER.pw_gid)
    open_to_all(own.folder)
    restore(own, archive)
    server = embedded.postgres(own.folder / "postgres")
    embedded.valkey(own.folder / "valkey")
    assert server.process.identity == f"id:{USER.pw_uid}:{USER.pw_gid}"
    server.forget_sockets()
    assert others(own.folder) == []


def test_what_a_killed_restore_unpacked_is_its_users_to_remove(home: Home, archive: Path) -> None:
    code = (
        "import os, sys, zipfile; from pathlib import Path\n"
        "from launch import last_step; from launch.home import Home\n"
        "home = Home(Path(sys.argv[1])); home.lock('a restore'); opened = zipfile.ZipFile(sys.argv[2])\n"
        "last_step.require_places(home, opened, has_own_secret=False)\n"
        "last_step._wait_for_disk = lambda home: os._exit(9)\n"
        "last_step.unpack(home, opened, has_own_secret=False)\n"
    )
    argv = [sys.executable, "-c", code, str(home.folder), str(archive)]
    assert subprocess.run(argv, check=False).returncode == 9
    assert (home.folder / "imports/.restored/7/figures.csv").exists()
    assert others(home.folder) == []
    as_user(home, lambda: last_step.discard(home))
    assert last_step.left(home) == []


def test_what_nobody_else_can_remove_is_told_with_who_can(home: Home, archive: Path) -> None:
    stays = home.folder / "imports/.restored"
    stays.mkdir(mode=0o700)
    (stays / "7").write_text("root's")
    as_user(home, lambda: last_step.discard(home))
    assert [str(stays) in words and "only root" in words for words in last_step.left(home)] == [True]


@pytest.mark.parametrize("cap", ["chown", "setuid", "setgid"])
def test_without_a_capability_what_cannot_be_is_left_as_it_was(home: Home, cap: str) -> None:
    home.folder.chmod(0o777)
    code = (
        "import sys; from pathlib import Path; from launch.home import Home; home = Home(Path(sys.argv[1]))\n"
        "home.lock(); home.secret_key(); home.unlock(); home.lock()\n"
    )
    argv = ["setpriv", "--bounding-set", f"-{cap}", "--inh-caps", f"-{cap}", sys.executable, "-c", code]
    done = subprocess.run([*argv, str(home.folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == (cap != "chown")
    assert bool(others(home.folder)) == (cap != "chown")


@pytest.mark.parametrize("name", ["imports", "imports/1", "imports/1/0", "secret_key"])
def test_what_a_link_leads_to_is_in_no_backup(home: Home, of_root: Path, tmp_path: Path, name: str) -> None:
    (home.folder / "secret_key").unlink()
    target = of_root if name in ("imports", "imports/1") else of_root / "lock"
    plant(home, name, lambda place: as_user(home, lambda: place.symlink_to(target)))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as made:
        with contextlib.suppress(backup.BackupError), backup._told_what_cannot_be_read(home):
            backup._add_files(home, made)
        assert made.namelist() == []


def test_a_backup_has_what_is_roots_and_its_users(home: Home, tmp_path: Path) -> None:
    for number, uid in ((1, USER.pw_uid), (2, 0)):
        folder = home.folder / "imports" / str(number)
        folder.mkdir(exist_ok=True)
        for place, owner in ((folder / "0", USER.pw_uid), (folder / "1", 0)):
            place.write_text("x")
            place.chmod(0o600)
            os.chown(place, owner, owner)
        os.chown(folder, uid, uid)
        folder.chmod(0o700)
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as made:
        backup._add_files(home, made)
        assert made.namelist() == ["secret_key", *(f"imports/{n}/{place}" for n in (1, 2) for place in (0, 1))]


def test_a_namespace_without_the_folders_user_is_used_as_it_is(home: Home) -> None:
    namespace = ["unshare", "--user", "--map-root-user"]
    if subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no user namespaces here")
    home.folder.chmod(0o777)
    code = (
        "import sys; from pathlib import Path; from launch.home import Home; home = Home(Path(sys.argv[1]))\n"
        "home.lock(); home.secret_key(); home.unlock()\n"
    )
    argv = [*namespace, sys.executable, "-c", code, str(home.folder)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "stays root's" in done.stderr


@pytest.mark.parametrize("is_roots", [False, True])
def test_a_long_log_is_set_aside_for_the_folders_user(
    home: Home, monkeypatch: pytest.MonkeyPatch, of_root: Path, is_roots: bool
) -> None:
    monkeypatch.setattr(process, "_LOG_LIMIT_BYTES", 10)
    home.lock()
    log = home.logs / "web.log"
    log.write_text("a line of before")
    os.chown(log, *((0, 0) if is_roots else (USER.pw_uid, USER.pw_gid)))
    before = state_of(of_root)
    child = process.Child(process.Process(name="web", argv=("/bin/true",)), log=log)
    child.popen.wait()
    assert (log.read_text(), (home.logs / "web.log.1").read_text()) == ("", "a line of before")
    assert (home.logs / "web.log.1").stat().st_uid == USER.pw_uid
    log.write_text("a line of before")
    (home.logs / "web.log.1").unlink()
    as_user(home, lambda: (home.logs / "web.log.1").symlink_to(of_root / "lock"))
    process.Child(process.Process(name="web", argv=("/bin/true",)), log=log).popen.wait()
    assert state_of(of_root) == before
    home.unlock()


@pytest.mark.parametrize("is_sticky", [False, True])
@pytest.mark.parametrize("place", ["x.backup", "x/x.backup", "chain"])
def test_no_backup_takes_the_place_of_what_a_users_link_leads_to(
    home: Home, of_root: Path, tmp_path: Path, place: str, is_sticky: bool
) -> None:
    folder = tmp_path / "sticky" if is_sticky else home.folder
    folder.mkdir(exist_ok=True)
    folder.chmod(0o1777 if is_sticky else 0o755)
    target = of_root if "/" in place else of_root / "lock"
    as_user(home, lambda: (folder / Path(place).parts[0]).symlink_to(target))
    file = folder / place
    if place == "chain":
        file = of_root / "own"
        file.symlink_to(folder / "chain")
    before = state_of(of_root)
    with pytest.raises(backup.BackupError, match="root follows no link of another user's"):
        backup.make(home, file)
    assert state_of(of_root) == before


def test_no_backup_is_read_through_a_users_link_where_the_user_could_not_go(home: Home, of_root: Path) -> None:
    of_root.chmod(0o700)
    (of_root / "lock").chmod(0o644)
    as_user(home, lambda: (home.folder / "x.backup").symlink_to(of_root / "lock"))
    with pytest.raises(backup.BackupError, match="cannot be read"), backup.opened(home.folder / "x.backup"):
        pass
    with pytest.raises(PermissionError), owners.by_maker_of_link(home.folder / "x.backup"):
        (home.folder / "x.backup").read_text()
