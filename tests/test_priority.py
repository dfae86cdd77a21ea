"""The order of the tests: those that measure go first, and nothing goes beside them."""

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
INI = "[pytest]\nmarkers =\n    quiet: measures\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text(INI)
    (tmp_path / "test_it.py").write_text(MODULE)
    return tmp_path


def carried_out(folder: Path, *options: str) -> list[tuple[str, float, float]]:
    """Return the name, beginning and end (s) of each test of the folder, in the order of their beginnings."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.priority", "-p", "no:django", *options, str(folder)]
    done = subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (line.split() for line in (folder / "notes").read_text().splitlines())
    return sorted(((name, float(began), float(ended)) for name, began, ended in lines), key=lambda note: note[1])


def test_quiet_tests_go_first_and_alone(folder: Path) -> None:
    notes = carried_out(folder, "-n", "3", "--dist", "loadgroup", "--no-loadscope-reorder")
    assert [name for name, _began, _ended in notes] == ["quiet"] * 3 + ["usual"] * 9
    assert all(ended <= began for (_name, _began, ended), (_next, began, _end) in pairwise(notes[:4]))


def test_without_quiet_tests_nobody_waits(folder: Path) -> None:
    notes = carried_out(folder, "-n", "3", "--dist", "loadgroup", "-k", "usual")
    assert len(notes) == 8
