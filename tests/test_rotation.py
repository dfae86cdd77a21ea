"""Every case of a walk has its turn, and a soak takes all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import rotation

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("number", [0, 1, 3, 4, 5, 30])
@pytest.mark.parametrize("parts", [2, 4, 10])
def test_each_case_has_its_turn(number: int, parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    for turn in range(739_000, 739_000 + parts):
        monkeypatch.setattr(rotation, "TURN", turn)
        part = rotation.part_of(range(number), parts)
        assert bool(part) == bool(number)
        assert len(part) <= number / parts + 1
        taken += part
    assert set(taken) == set(range(number))


def test_a_soak_takes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotation, "TURN", None)
    assert rotation.part_of("abcde") == list("abcde")
    assert rotation.number_of(200) == 200
    assert "whole" in rotation.words()


@pytest.mark.parametrize(("text", "turn"), [("all", None), ("7", 7)])
def test_the_turn_is_as_asked_for(text: str, turn: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(rotation.VARIABLE, text)
    assert rotation._turn() == turn


def test_a_run_says_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotation, "TURN", 739_002)
    assert (
        rotation.words()
        == "walks: part 2 of 4, dear files: part 2 of 8 (FATHOM_TURN=739002 takes them again, make soak takes all)"
    )


def test_each_dear_file_is_there_and_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "tests" / "dear_files.txt").read_text()
    assert len(rotation.DEAR) == len(text.split())
    assert not [path for path in rotation.DEAR if not (ROOT / path).is_file()]
    taken: list[str] = []
    for turn in range(739_000, 739_000 + rotation.FILE_PARTS):
        monkeypatch.setattr(rotation, "TURN", turn)
        taken += [path for path in rotation.DEAR if not rotation.rests(path)]
    assert sorted(taken) == sorted(rotation.DEAR)
    monkeypatch.setattr(rotation, "TURN", None)
    assert not any(map(rotation.rests, rotation.DEAR))


@pytest.mark.parametrize(
    "path",
    ["launch/test_web_connections.py", "rest/test_fuzz.py", "workers/test_isolation.py", "test_architecture.py"],
)
def test_what_guards_everybody_is_tried_in_every_run(path: str) -> None:
    assert (ROOT / "tests" / path).is_file()
    assert f"tests/{path}" not in rotation.DEAR


@pytest.mark.parametrize(("named", "taken"), [((), 1), (("test_resting.py", "test_other.py"), 2)])
def test_a_file_that_rests_is_run_when_it_is_asked_for(named: tuple[str, ...], taken: int, tmp_path: Path) -> None:
    for name in ("test_resting.py", "test_other.py"):
        (tmp_path / name).write_text("def test_it(): pass")
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = .\n")
    dear = 'rotation.DEAR = {"test_elsewhere.py": 0, "test_resting.py": 1}'
    (tmp_path / "conftest.py").write_text(f"from tests import rotation\n{dear}\n")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:django", "-p", "tests.running.plugin", *named],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), rotation.VARIABLE: "0"},
        capture_output=True,
        text=True,
    )
    assert f"{taken} passed" in ended.stdout, ended.stdout + ended.stderr
    assert ("1 deselected" in ended.stdout) is (taken == 1)
