"""A service that does not say where it is: a backup gives up, and a command says what is so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from launch import backup, folder_lock
from launch.home import ROOT, Home, RunsError
from tests.launch.stack import NOT_INHERITED


def test_a_backup_waits_no_longer_than_minutes_for_a_service_that_does_not_say_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_database_of_the_tests: None
) -> None:
    monkeypatch.setattr(folder_lock, "_UNANSWERED_S", 0.5)
    (tmp_path / "var" / "postgres" / "cluster").mkdir(parents=True)
    running = Home(tmp_path / "var")
    running.lock()
    try:
        with pytest.raises(RunsError, match=r"run/state\.json does not say where its database is"):
            backup.make(Home(tmp_path / "var"), tmp_path / "x.backup")
    finally:
        running.unlock()
    assert not (tmp_path / "x.backup").exists()


def test_a_command_that_finds_no_service_says_what_is_so(tmp_path: Path) -> None:
    own = (*NOT_INHERITED, "SECRET_KEY", "DJANGO_SETTINGS_MODULE")
    env = {name: text for name, text in os.environ.items() if name not in own}
    process = subprocess.run(
        [sys.executable, "manage.py", "create_token", "--username", "alice", "--name", "x"],
        cwd=ROOT,
        env=env | {"FATHOM_VAR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 1
    assert f"No service is known to run on {tmp_path}: start one (make serve)" in process.stderr
    assert f"writes {tmp_path}/run/state.json again within a minute" in process.stderr
