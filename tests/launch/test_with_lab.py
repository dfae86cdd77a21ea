"""A service with a lab begins with the lab: where there can be none, that is told and nothing else starts."""

from pathlib import Path

import pytest

from launch import __main__ as command
from launch import service


def test_a_lab_that_cannot_be_built_is_told_and_nothing_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "lab.yaml").write_text("name: x\n")
    monkeypatch.setenv("LAB", str(tmp_path / "lab.yaml"))
    monkeypatch.setenv("FATHOM_VAR", str(tmp_path / "var"))
    monkeypatch.setattr(service.Service, "start", lambda self: pytest.fail("the service was started"))
    assert command.main(["serve"]) == 1
    assert "lab.yaml: switches: write 1 to 1000 of them, not 0." in capsys.readouterr().err
