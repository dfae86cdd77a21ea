"""The verbs end with a status and a word, not with a traceback."""

import subprocess
from pathlib import Path

import pytest

from launch import __main__ as command
from launch import catalogue, embedded, home


def test_a_port_that_is_none_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PORT", "http")
    assert command.main(["serve"]) == 1
    assert "PORT=http is no port" in capsys.readouterr().err


def test_a_folder_that_cannot_be_used_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FATHOM_VAR", str(tmp_path / "file"))
    assert command.main(["serve"]) == 1
    assert "FATHOM_VAR" in capsys.readouterr().err


def test_a_database_that_cannot_be_made_is_told_and_the_folder_given_back(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(data: Path) -> embedded.Server:
        raise embedded.EmbeddedError("There is no embedded PostgreSQL for this machine: set DATABASE_URL.")

    monkeypatch.setattr(embedded, "postgres", fail)
    monkeypatch.delenv("DATABASE_URL")
    monkeypatch.setenv("FATHOM_VAR", str(tmp_path))
    assert command.main(["serve"]) == 1
    assert "set DATABASE_URL" in capsys.readouterr().err
    home.Home(tmp_path).lock()


def test_ctrl_c_before_anything_runs_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(command.VERBS, "serve", interrupted)
    assert command.main(["serve"]) == 130


def test_an_unknown_verb_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["dance"])
    assert ended.value.code == 2
    assert "serve" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "hosts"), [("", []), ("10.0.0.1, [fd00::1],", ["10.0.0.1", "fd00::1"]), ("0.0.0.0", ["0.0.0.0"])]
)
def test_further_addresses_are_read(monkeypatch: pytest.MonkeyPatch, text: str, hosts: list[str]) -> None:
    monkeypatch.setenv("BIND", text)
    assert command.binds() == hosts


@pytest.mark.parametrize("failing", ["check", "makemigrations"])
def test_a_check_that_fails_fails_the_verb(monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    ran = []

    def run(argv: list[str], **_options: object) -> subprocess.CompletedProcess[bytes]:
        ran.append(argv)
        return subprocess.CompletedProcess(argv, int(failing in argv))

    monkeypatch.setattr(command.subprocess, "run", run)
    assert command.main(["check"]) == 1
    assert len(ran) == 2


def test_a_missing_gettext_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(catalogue.shutil, "which", lambda name: None)
    assert command.main(["messages"]) == 1
    assert "apt-get install gettext" in capsys.readouterr().err
