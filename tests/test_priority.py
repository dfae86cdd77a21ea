"""The order of the tests: those that measure go first, and nothing goes beside them but behind them."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULE = """
import time, pytest
from pathlib import Path

def note(name):
    began = time.time()
    time.sleep(0.3)
    with Path("notes").open("a") as notes:
        notes.write(f"{name} {began} {time.time()}\\n")

@pytest.mark.parametrize("number", range(8))
def test_usual(number):
    note("usual")

@pytest.mark.quiet
@pytest.mark.parametrize("number", range(3))
def test_quiet(number):
    note("quiet")

def test_last():
    note("usual")
"""
PLAIN = """
import os, time, pytest
from pathlib import Path
from test_it import note

def test_plain_that_outlasts_them():
    def is_behind():
        return os.sched_getscheduler(0) == os.SCHED_IDLE
    began, deadline = time.time(), time.monotonic() + 60
    assert is_behind()
    Path("begun").touch()
    while is_behind() and time.monotonic() < deadline:
        time.sleep(0.05)
    with Path("notes").open("a") as notes:
        notes.write(f"{'behind' if is_behind() else 'forward'} {began} {time.time()}\\n")

@pytest.mark.parametrize("number", range(12))
def test_plain(number):
    note("behind" if os.sched_getscheduler(0) == os.SCHED_IDLE else "plain")

@pytest.mark.quiet
def test_quiet_lasts_until_there_was_time_for_those_behind():
    deadline = time.monotonic() + 60
    while not (Path("begun").exists() and "behind" in Path("notes").read_text()) and time.monotonic() < deadline:
        time.sleep(0.1)
    note("quiet")
"""
SHARING = """
import time, pytest
from pathlib import Path

@pytest.fixture(scope="module")
def shared():
    with Path("set-ups").open("a") as notes:
        notes.write("x")

@pytest.mark.parametrize("number", range(12))
def test_sharing(shared, number):
    time.sleep(0.05)
"""
INI = "[pytest]\npythonpath = .\nmarkers =\n    quiet: measures\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text(INI)
    (tmp_path / "test_it.py").write_text(MODULE)
    return tmp_path


def carried_out(folder: Path, *options: str) -> list[tuple[str, float, float]]:
    """Return the name, beginning and end (s) of each test of the folder, in the order of their beginnings."""
    plugins = [option for name in ("tests.running.plugin", "tests.priority", "no:django") for option in ("-p", name)]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, "--workers", "3", *options, str(folder)]
    # The plugins of what is installed take a second of a processor to be imported.
    environment = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (line.split() for line in (folder / "notes").read_text().splitlines())
    return sorted(((name, float(began), float(ended)) for name, began, ended in lines), key=lambda note: note[1])


def test_quiet_tests_go_first_and_alone(folder: Path) -> None:
    notes = carried_out(folder)
    assert [name for name, _began, _ended in notes] == ["quiet"] * 3 + ["usual"] * 9
    assert all(ended <= began for (_name, _began, ended), (_next, began, _end) in pairwise(notes[:4]))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may come back from behind all others")
def test_what_starts_no_process_goes_beside_them_behind_all_else(folder: Path) -> None:
    (folder / "tests" / "accounts").mkdir(parents=True)
    (folder / "tests" / "accounts" / "test_plain.py").write_text(PLAIN)
    notes = carried_out(folder)
    over = max(ended for name, _began, ended in notes if name == "quiet")
    early = {name for name, began, _ended in notes if began < over}
    # One was in the middle of a test at that moment.
    assert early == {"quiet", "behind", "forward"}
    # One may have begun in the moment before it was told that they are over.
    late = [name for name, began, _ended in notes if began > over + 0.1]
    assert set(late) == {"plain", "usual"}
    assert len(notes) == 26


def test_without_quiet_tests_nobody_waits(folder: Path) -> None:
    notes = carried_out(folder, "-k", "usual")
    assert len(notes) == 8


def test_what_a_file_sets_up_for_all_its_tests_is_set_up_once(folder: Path) -> None:
    (folder / "test_sharing.py").write_text(SHARING)
    carried_out(folder, "-k", "sharing or last")
    assert (folder / "set-ups").read_text() == "x"
