from pathlib import Path

import pytest

from lab import machine
from lab.__main__ import main
from lab.state import Place
from tests.lab.labs import KISTI_PUSAN

STATE = {"lab": "small", "nodes": [{"name": "one", "prefix": ["x"]}], "switches": [{"name": "left", "netns": "y"}]}


def test_a_mistake_in_the_file_is_told_before_anything_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "lab.yaml"
    file.write_text("name: x\n")
    assert main(["up", str(file), "--state", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"lab: {file}: switches: write 1 to 1000 of them, not 0.\n"


@pytest.mark.parametrize("command", [["up", str(KISTI_PUSAN)], ["down"]])
def test_where_no_lab_is_possible_the_reason_is_told(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine, "possible", lambda: "The lab needs root.")
    assert main([*command, "--state", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "lab: The lab needs root.\n"
    assert list(tmp_path.iterdir()) == []


def test_status_says_that_no_lab_is_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--state", str(tmp_path)]) == 1
    assert capsys.readouterr().out == "no lab is up\n"


@pytest.mark.parametrize(
    ("up", "arguments", "message"),
    [
        (False, ["one", "--", "true"], "No lab is up in"),
        (True, ["three", "--", "true"], "The lab small has no node three; it has one, left."),
        (True, ["one"], "Say what to run on one: python -m lab exec one -- ping"),
        (True, ["one", "--"], "Say what to run on one"),
    ],
)
def test_a_command_that_cannot_run_is_told_why(
    up: bool, arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if up:
        Place(tmp_path).write_state(STATE)
    assert main(["exec", "--state", str(tmp_path), *arguments]) == 1
    assert message in capsys.readouterr().err


def test_an_unknown_command_is_refused_with_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["sideways"])
    assert stopped.value.code == 2
    assert "usage: python -m lab" in capsys.readouterr().err
