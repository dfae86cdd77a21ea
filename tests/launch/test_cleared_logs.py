"""What is cleared away, or is another user's, of what the parts of a service write does not stay so."""

import shutil
from pathlib import Path

import pytest

from launch import broker_files, process
from launch.process import Child, Process
from launch.supervisor import Supervisor
from tests.launch.watching import wait_for

TALKS = """
i=0
while [ ! -e "$0.$i" ] && sleep 0.02; do if [ -e "$0" ]; then i=$((i+1)); echo "line $i"; rm "$0"; fi; done
"""


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_log_that_was_cleared_away_is_there_again_with_what_is_printed_since(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("launch.supervisor.TRIM_EVERY_S", 0.1)
    go_on, log = tmp_path / "go on", tmp_path / "log" / "part.log"
    watched = Supervisor(logs=log.parent, report=lambda *_event: None)
    watched.add(Process("part", ("sh", "-c", TALKS, str(go_on))))

    def has(text: str) -> bool:
        return log.exists() and log.read_text() == text

    with watched:
        go_on.touch()
        assert wait_for(lambda: has("line 1\n"))
        shutil.rmtree(log.parent) if what == "folder" else log.unlink()
        go_on.touch()
        assert wait_for(lambda: has("line 1\nline 2\n"))
        go_on.touch()
        assert wait_for(lambda: has("line 1\nline 2\nline 3\n"))
        log.unlink()
        go_on.touch()
        assert wait_for(lambda: has("line 4\n"))
        monkeypatch.setattr(process, "_LOG_LIMIT_BYTES", 3)
        go_on.touch()
        assert wait_for(lambda: log.with_suffix(".log.1").exists() and has(""))


def test_a_log_that_was_moved_is_there_again_and_what_was_moved_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, log, moved = tmp_path / "go on", tmp_path / "part.log", tmp_path / "moved.log"
    child = Child(Process("part", ("sh", "-c", TALKS, str(go_on))), log=log)

    def has_after(text: str) -> bool:
        child.trim_log()
        return log.exists() and log.read_text() == text

    try:
        go_on.touch()
        assert wait_for(lambda: has_after("line 1\n"))
        log.rename(moved)
        go_on.touch()
        assert wait_for(lambda: has_after("line 2\n"))
        assert "line 2" in child.end_of_log()
        log.rename(tmp_path / "moved too.log")
        monkeypatch.setattr(process, "_LOG_LIMIT_BYTES", 3)
        go_on.touch()
        assert wait_for(lambda: has_after("") and log.with_suffix(".log.1").exists())
        assert log.with_suffix(".log.1").read_text() == "line 3\n"
        assert moved.read_text() == "line 1\nline 2\nline 3\n"
    finally:
        child.stop()


def test_why_a_part_ended_is_told_though_its_log_was_cleared_away(tmp_path: Path) -> None:
    go_on = tmp_path / "go on"
    child = Child(Process("part", ("sh", "-c", TALKS, str(go_on))), log=tmp_path / "part.log")
    try:
        (tmp_path / "part.log").unlink()
        go_on.touch()
        assert wait_for(lambda: "line 1" in child.end_of_log())
    finally:
        child.stop()


def test_files_of_a_broker_are_set_aside_beside_those_that_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_files, "_AGAIN_AFTER_S", 0.0)
    # As what another user left there.
    monkeypatch.setattr(shutil, "rmtree", lambda *_given, **_options: None)
    set_aside = broker_files.SetAside(tmp_path)
    for name in ("appendonlydir.refused", "appendonlydir.refused2", "appendonlydir.refused3"):
        (tmp_path / "appendonlydir").mkdir()
        assert f"its files are set aside as {tmp_path / name}," in set_aside()
        assert (tmp_path / name).is_dir()


def test_files_of_a_broker_that_cannot_be_set_aside_are_told_with_their_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "appendonlydir").mkdir()

    def refuse(*_given: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    words = broker_files.SetAside(tmp_path)()
    assert f"its files, {tmp_path / 'appendonlydir'} of " in words
    assert words.endswith("cannot be set aside: Permission denied")
