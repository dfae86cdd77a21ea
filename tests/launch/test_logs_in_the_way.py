"""A part whose log cannot be opened is started as soon as it can be, at its first start and at every other."""

import os
import signal
import sys
from pathlib import Path

import pytest

from launch import supervisor as supervisors
from launch.process import Child, Process, ProcessError
from launch.supervisor import Supervisor
from tests.launch.conftest import Make
from tests.launch.watching import wait_for

SLEEP = ("sleep", "60")
Events = list[tuple[str, str]]


def failures(events: Events) -> list[str]:
    return [text for part, text in events if part == "part" and text.startswith("cannot be started (")]


def obstructed(tmp_path: Path) -> Path:
    """Return the log of the part, in whose place a folder is."""
    log = tmp_path / "log" / "part.log"
    log.mkdir(parents=True)
    return log


def runs(supervisor: Supervisor) -> bool:
    return "part" in supervisor.pids()


def test_a_first_start_that_nothing_rests_on_is_tried_again_while_the_others_run(
    make: Make, tmp_path: Path, events: Events
) -> None:
    log = obstructed(tmp_path)
    with make(Process("part", SLEEP), Process("other", SLEEP)) as supervisor:
        assert set(supervisor.pids()) == {"other"}
        # More often than a start that others wait for.
        assert wait_for(lambda: len(failures(events)) > supervisors.MOST_FIRST_STARTS)
        assert str(log) in failures(events)[0] and "tried again in 0.05 s" in failures(events)[0]
        log.rmdir()
        assert wait_for(lambda: runs(supervisor)) and log.is_file()


def test_what_is_added_later_is_tried_again_too(make: Make, tmp_path: Path, events: Events) -> None:
    log = obstructed(tmp_path)
    with make(Process("other", SLEEP)) as supervisor:
        supervisor.add(Process("part", SLEEP))
        assert wait_for(lambda: len(failures(events)) > 1)
        log.rmdir()
        assert wait_for(lambda: runs(supervisor))


def test_what_others_rest_on_is_waited_for(tmp_path: Path, events: Events) -> None:
    log, there = obstructed(tmp_path), tmp_path / "there"

    def report(part: str, text: str) -> None:
        events.append((part, text))
        if len(failures(events)) == 2 and log.is_dir():
            log.rmdir()

    first = Process("part", (sys.executable, "-c", f"open({str(there)!r}, 'w')"), once=True)
    supervisor = Supervisor(logs=log.parent, report=report, delays_s=(0.05, 0.2))
    for process in (first, Process("other", SLEEP)):
        supervisor.add(process)
    with supervisor:
        assert there.exists() and "other" in supervisor.pids()
    assert [text for part, text in events if part == "part" and not text.startswith("cannot")][-1] == "done"


def test_what_others_rest_on_ends_the_start_of_all_if_it_never_can_be(
    make: Make, tmp_path: Path, events: Events
) -> None:
    obstructed(tmp_path)
    supervisor = make(Process("other", SLEEP), Process("part", SLEEP, ready=lambda: True))
    with pytest.raises(ProcessError, match=r"part: .*part\.log"):
        supervisor.start()
    assert supervisor.pids() == {} and len(failures(events)) == supervisors.MOST_FIRST_STARTS - 1


def test_a_restart_is_tried_again(make: Make, tmp_path: Path, events: Events) -> None:
    with make(Process("part", SLEEP), Process("other", SLEEP)) as supervisor:
        log = tmp_path / "log" / "part.log"
        log.unlink()
        obstructed(tmp_path)
        os.kill(supervisor.pids()["part"], signal.SIGKILL)
        assert wait_for(lambda: len(failures(events)) > 2)
        assert "other" in supervisor.pids()
        log.rmdir()
        assert wait_for(lambda: runs(supervisor))


def test_what_cannot_be_put_right_keeps_nothing_from_being_looked_after(make: Make, events: Events) -> None:
    def mend() -> str:
        raise PermissionError(13, "Permission denied")

    frail = Process("part", (sys.executable, "-c", "raise SystemExit(3)"), mend=mend)
    with make(frail, Process("other", SLEEP)) as supervisor:
        assert wait_for(lambda: sum("cannot be put right" in text for _part, text in events) > 2)
        other = supervisor.pids()["other"]
        os.kill(other, signal.SIGKILL)
        assert wait_for(lambda: supervisor.pids().get("other", other) != other)


def test_what_a_part_printed_is_told_without_its_log(tmp_path: Path) -> None:
    child = Child(Process("part", ("sh", "-c", "echo before; echo the reason; exit 3")), log=tmp_path / "part.log")
    child.popen.wait()
    (tmp_path / "part.log").unlink()
    (tmp_path / "part.log").mkdir()
    assert child.end_of_log().splitlines()[1:] == ["    before", "    the reason"]
    child.stop()


def test_a_part_that_refused_is_mended_though_its_log_is_gone(make: Make, tmp_path: Path, events: Events) -> None:
    log, mended = tmp_path / "log" / "part.log", tmp_path / "mended"

    def mend() -> str:
        mended.touch()
        log.rmdir()
        return "put right"

    code = (
        f"import os, time; log = {str(log)!r}\n"
        f"if os.path.exists({str(mended)!r}): time.sleep(60)\n"
        "os.unlink(log); os.mkdir(log); raise SystemExit(3)"
    )
    with make(Process("part", (sys.executable, "-c", code), ready=mended.exists, mend=mend)) as supervisor:
        assert runs(supervisor)
    assert ("part", "put right") in events
