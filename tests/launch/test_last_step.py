"""The files of a backup take the place of what is there wherever that lies, and from wherever it was cut off."""

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from launch import last_step, restore
from launch.backup import BackupError
from launch.home import ROOT, Home
from tests.launch.kept import accounts, served

NEW = {
    "imports/7/figures.csv": "a,b\n",
    "imports/8/deep/er.csv": "c\n",
    "archives/3.zip": "PK",
    "secret_key": "new",
}
# For each number it reads, a process exchanges the files of the folder argv[1], and dies after as many changes of a
# folder: nothing is cleaned up then. How that ended is printed.
DIES = """
import os, sys, traceback
from pathlib import Path
from launch import last_step
from launch.home import Home
def hook(event, _arguments):
    global left
    if event in ("os.rename", "os.remove", "os.rmdir", "os.truncate"):
        left -= 1
        if left < 0:
            os._exit(9)
for line in sys.stdin:
    left = int(line)
    child = os.fork()
    if not child:
        sys.addaudithook(hook)
        try:
            last_step.carry_out(Home(Path(sys.argv[1])))
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
# Waits for its turn in the folder argv[1] as a restore does, with the archive argv[2], and takes it.
WHOLE = """
import sys, zipfile
from pathlib import Path
from launch import last_step
from launch.home import Home
home = Home(Path(sys.argv[1]))
with zipfile.ZipFile(sys.argv[2]) as archive:
    last_step.require_places(home, archive, has_own_secret=False)
    last_step.unpack(home, archive, has_own_secret=False)
last_step.announce(home)
last_step.carry_out(home)
"""


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    with zipfile.ZipFile(tmp_path / "files.zip", "w") as made:
        for name, content in NEW.items():
            made.writestr(name, content)
    return tmp_path / "files.zip"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return a folder with files of before."""
    own = Home(tmp_path / "var")
    for name in ("imports/7/old.csv", "imports/5/old.csv", "archives/1.zip", "secret_key"):
        path = own.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("of before")
    return own


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """Give a folder on another disk than the tests' own."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def files(own: Home) -> dict[str, str]:
    found = [path for name in last_step.FILES for path in (own.folder / name).rglob("*") if path.is_file()]
    return {str(path.relative_to(own.folder)): path.read_text() for path in [*found, own.folder / "secret_key"]}


def prepare(own: Home, archive: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        last_step.require_places(own, opened, has_own_secret=False)
        last_step.unpack(own, opened, has_own_secret=False)
    last_step.announce(own)


def test_a_restore_onto_links_to_another_disk_is_whole(kept: Path, var: Path, elsewhere: Path) -> None:
    own = Home(var)
    for name in last_step.FILES:
        (own.folder / name).mkdir(exist_ok=True)
        (own.folder / name).rename(own.folder / f"{name}.former")
        (elsewhere / name / "9").mkdir(parents=True)
        (elsewhere / name / "9" / "old.csv").write_text("of before")
        (own.folder / name).symlink_to(elsewhere / name)
    (own.folder / "secret_key").unlink()
    (elsewhere / "secret").write_text("of before, and as long as a secret has to be\n")
    (own.folder / "secret_key").symlink_to(elsewhere / "secret")
    restore.restore(own, kept / "now.backup")
    key = Home(kept / "var").secret_key() + "\n"
    assert files(own) == {"imports/7/figures.csv": "a,b\n1,2\n", "secret_key": key}
    assert (elsewhere / "secret").read_text() == key
    assert all((own.folder / name).is_symlink() for name in (*last_step.FILES, "secret_key"))
    assert not own.restored.exists()
    with served(var) as address:
        assert accounts(address) == {"alice"}


def test_mounts_are_filled_and_what_lies_below_them_stays(home: Home, archive: Path) -> None:
    shell = (
        'mount -t tmpfs none "$1/imports" && mkdir "$1/imports/lost+found" && touch "$1/imports/old"'
        ' && mount --bind "$2/secret" "$1/secret_key" && "$3" -c "$4" "$1" "$2/files.zip"'
        ' && cd "$1" && find imports archives -mindepth 1 | sort && cat secret_key'
    )
    (archive.parent / "secret").write_text("a much longer secret of before\n")
    space = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "-m", "sh", "-c", shell, "sh"]
    done = subprocess.run(
        [*space, str(home.folder), str(archive.parent), sys.executable, WHOLE],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = ["archives/3.zip", "imports/7", "imports/7/figures.csv", "imports/8", "imports/8/deep"]
    assert done.stdout.split() == [*found, "imports/8/deep/er.csv", "imports/lost+found", "new"]
    assert (home.folder / "imports/5/old.csv").read_text() == "of before"


@pytest.fixture
def ended_after(home: Home) -> Iterator[Callable[[int], int]]:
    """Give what has a process exchange the files, and die after so many changes; it returns how that ended."""
    argv = [sys.executable, "-c", DIES, str(home.folder)]
    with subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:

        def ended(changes: int) -> int:
            assert program.stdin and program.stdout
            print(changes, file=program.stdin, flush=True)
            return int(program.stdout.readline())

        yield ended


def test_wherever_it_is_cut_off_the_next_start_carries_it_out(
    home: Home, archive: Path, ended_after: Callable[[int], int]
) -> None:
    cut_off = 0
    while True:
        prepare(home, archive)
        status = ended_after(cut_off + 1)
        assert status in (0, 9)
        is_left = home.restored.exists()
        assert last_step.finish(home) == is_left
        assert files(home) == NEW, cut_off
        assert home.has_account()
        assert not list(home.folder.rglob("*restor*"))
        if status == 0:
            break
        cut_off += 1
        (home.folder / "imports/5").mkdir()
        (home.folder / "imports/5/old.csv").write_text("of before")
        (home.folder / "secret_key").write_text("of before")
    assert cut_off > 8


@pytest.mark.parametrize("is_in_place", [False, True])
def test_cut_off_at_the_exchange_the_databases_names_decide(var: Path, archive: Path, *, is_in_place: bool) -> None:
    own = Home(var)
    before = files(own)
    prepare(own, archive)
    with served(var) as address, psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE fathom_{'replaced' if is_in_place else 'restoring'}")
    own.lock()
    assert last_step.finish(own) == is_in_place
    own.unlock()
    assert files(own) == (NEW if is_in_place else before)
    assert not own.restored.exists()


def test_what_cannot_be_exchanged_is_refused_before_anything_is_read(
    kept: Path, var: Path, elsewhere: Path, tmp_path: Path
) -> None:
    own = Home(var)
    before = files(own)
    (own.folder / "archives").symlink_to(tmp_path / "nowhere")
    with pytest.raises(last_step.LastStepError, match=r"archives cannot be written \(.*nothing has changed"):
        restore.restore(own, kept / "now.backup")
    (own.folder / "archives").unlink()
    (own.folder / "secret_key").unlink()
    (own.folder / "secret_key").mkdir()
    with pytest.raises(last_step.LastStepError, match=r"secret_key cannot be written \(Is a directory"):
        restore.restore(own, kept / "now.backup")
    (own.folder / "secret_key").rmdir()
    (own.folder / "secret_key").write_text(before["secret_key"])
    assert files(own) == before
    assert not list(own.folder.rglob(".restor*"))
    with pytest.raises(BackupError):
        restore.restore(own, tmp_path / "nothing")


def test_what_is_in_the_way_after_the_exchange_is_told_and_carried_out_later(home: Home, archive: Path) -> None:
    prepare(home, archive)
    (home.folder / "imports/.restoring").write_text("in the way")
    with pytest.raises(last_step.LastStepError, match=r"imports.*Mend that: the next start, or restore"):
        last_step.carry_out(home)
    (home.folder / "imports/.restoring").unlink()
    assert last_step.finish(home)
    assert files(home) == NEW
