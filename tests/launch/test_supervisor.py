"""The supervisor starts in order, restarts what dies, stops all of it, and leaves no process behind."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from launch import orphans, room
from launch.part import RESTART_DELAYS_S, restart_delay
from launch.process import Process, ProcessError
from launch.signals import stop_on_signals
from launch.supervisor import RECOVERED_S, Stopped
from tests.launch.conftest import Make
from tests.launch.watching import alive, wait_for, wait_until_gone

SLEEP = ("sleep", "60")


def python(name: str, code: str, **options: object) -> Process:
    return Process(name, (sys.executable, "-S", "-c", code), **options)  # type: ignore[arg-type]


def test_it_starts_each_part_when_the_one_before_is_ready(
    make: Make, tmp_path: Path, events: list[tuple[str, str]]
) -> None:
    flag = tmp_path / "flag"
    code = f"import time, pathlib; time.sleep(0.3); pathlib.Path({str(flag)!r}).touch(); time.sleep(60)"
    first = python("first", code, ready=flag.exists)
    with make(first, Process("second", SLEEP)) as supervisor:
        assert set(supervisor.pids()) == {"first", "second"}
    assert [part for part, text in events if text.startswith(("started", "ready"))] == ["first", "first", "second"]


def test_it_runs_a_single_command_to_its_end_before_the_next(make: Make, tmp_path: Path) -> None:
    made = tmp_path / "made"
    once = python("once", f"import time, pathlib; time.sleep(0.3); pathlib.Path({str(made)!r}).touch()", once=True)
    with make(
        once, python("next", f"import os, time; assert os.path.exists({str(made)!r}); time.sleep(60)")
    ) as running:
        time.sleep(0.3)
        assert set(running.pids()) == {"next"}


def test_what_ended_on_a_full_disk_starts_again_once_there_is_room(
    make: Make, events: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def starts() -> int:
        return sum(text.startswith("started") for _part, text in events)

    # No disk of a test has so much.
    monkeypatch.setattr(room, "LEAST_BYTES", 1 << 62)
    with make(python("frail", "import time; time.sleep(0.1); raise SystemExit(3)"), delays_s=(60.0,)):
        assert wait_for(lambda: any("starts again in 60 s" in text for _part, text in events))
        time.sleep(0.5)
        assert starts() == 1
        monkeypatch.setattr(room, "LEAST_BYTES", 0)
        assert wait_for(lambda: starts() == 2)
        # There was room when it ended again: it waits.
        assert wait_for(lambda: sum("starts again in 60 s" in text for _part, text in events) == 2)
        time.sleep(0.5)
        assert starts() == 2


def test_the_disk_that_a_part_writes_on_is_named_wherever_its_log_is(
    make: Make, events: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "data"
    own.mkdir()
    free = {own: 0}
    monkeypatch.setattr(room, "_free_bytes", lambda folder: free.get(folder, 1 << 40))
    part = dataclasses.replace(python("frail", "raise SystemExit(3)"), writes_in=(tmp_path, own))
    with make(part, delays_s=(60.0,)):
        assert wait_for(lambda: any(f"the disk of {own} is full" in text for _part, text in events))
        free[own] = 2 * room.LEAST_BYTES
        assert wait_for(lambda: sum(text.startswith("started") for _part, text in events) == 2)


def test_a_disk_that_takes_no_more_files_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for files, free, is_scarce in ((1000, 0, True), (1000, room.LEAST_FILES, False), (0, 0, False)):
        state = SimpleNamespace(f_bavail=1 << 20, f_frsize=4096, f_files=files, f_favail=free)
        monkeypatch.setattr(os, "statvfs", lambda _folder, state=state: state)
        assert (room.scarce_in([tmp_path]) is not None) is is_scarce, (files, free)
        assert room.is_there_again(tmp_path) is (not files)


def test_it_restarts_what_dies_with_growing_delays(make: Make, events: list[tuple[str, str]]) -> None:
    with make(python("frail", "import time; time.sleep(0.1); raise SystemExit(3)")):
        assert wait_for(lambda: len([text for _, text in events if "starts again" in text]) >= 3)
    ended = [text for _, text in events if "starts again" in text]
    assert "exit status 3" in ended[0]
    assert "in 0.05 s" in ended[0]
    assert "in 0.2 s" in ended[1]
    assert "in 0.2 s" in ended[2]


def test_it_restarts_what_was_killed_and_what_that_left_behind_is_gone(make: Make, tmp_path: Path) -> None:
    code = "import subprocess, time, pathlib, sys; child = subprocess.Popen(['sleep', '60']); " \
           f"pathlib.Path({str(tmp_path / 'child')!r}).write_text(str(child.pid)); time.sleep(60)"  # fmt: skip
    with make(python("worker", code)) as supervisor:
        assert wait_for(lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text())
        child, worker = int((tmp_path / "child").read_text()), supervisor.pids()["worker"]
        os.kill(worker, signal.SIGKILL)
        assert wait_for(lambda: supervisor.pids().get("worker", worker) != worker)
        assert not wait_until_gone([child])


def test_the_delays_grow_to_a_limit() -> None:
    assert [restart_delay(failures) for failures in (1, 2, 99)] == [0.5, 1.0, RESTART_DELAYS_S[-1]]
    assert RESTART_DELAYS_S[-1] < RECOVERED_S


def test_a_part_that_recovered_is_restarted_without_delay_again(
    make: Make, events: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("launch.supervisor.RECOVERED_S", 0.05)
    with make(python("frail", "import time; time.sleep(0.2)")):
        assert wait_for(lambda: len([text for _, text in events if "starts again" in text]) >= 2)
    assert all("in 0.05 s" in text for _, text in events if "starts again" in text)


def test_it_stops_the_highest_tier_first(make: Make, events: list[tuple[str, str]]) -> None:
    names = [Process("database", SLEEP, tier=0), Process("agent", SLEEP, tier=30), Process("web", SLEEP, tier=20)]
    with make(*names) as supervisor:
        pids = list(supervisor.pids().values())
    assert [part for part, text in events if text == "stopping"] == ["agent", "web", "database"]
    assert not any(alive(pid) for pid in pids)


def test_it_kills_what_does_not_stop_in_time(make: Make, events: list[tuple[str, str]], tmp_path: Path) -> None:
    ready = tmp_path / "deaf"
    code = f"import signal, time, pathlib; signal.signal(signal.SIGTERM, signal.SIG_IGN); pathlib.Path({str(ready)!r}).touch(); time.sleep(60)"  # noqa: E501
    with make(python("deaf", code, ready=ready.exists, stop_timeout_s=0.2)) as supervisor:
        pid = supervisor.pids()["deaf"]
    assert ("deaf", "did not stop in time, killed") in events
    assert not alive(pid)


def test_a_second_request_to_stop_ends_the_patience(make: Make, tmp_path: Path) -> None:
    ready = tmp_path / "deaf"
    code = f"import signal, time, pathlib; signal.signal(signal.SIGTERM, signal.SIG_IGN); pathlib.Path({str(ready)!r}).touch(); time.sleep(60)"  # noqa: E501
    supervisor = make(python("deaf", code, ready=ready.exists, stop_timeout_s=60))
    supervisor.start()
    pid = supervisor.pids()["deaf"]
    supervisor.request_stop()
    supervisor.request_stop()
    supervisor.wait()
    assert not alive(pid)


def test_a_part_that_does_not_start_stops_the_others_and_shows_its_log(make: Make) -> None:
    supervisor = make(Process("good", SLEEP), python("bad", "print('no such luck'); raise SystemExit(2)", once=True))
    with pytest.raises(ProcessError, match=r"(?s)exit status 2.*no such luck"):
        supervisor.start()
    assert supervisor.pids() == {}


def test_a_program_that_is_missing_is_named(make: Make) -> None:
    with pytest.raises(ProcessError, match=r"(?s)no-such-program.*No such file"):
        make(Process("missing", ("no-such-program",), once=True)).start()


def test_a_log_that_cannot_be_written_is_told(make: Make, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file where the folder should be")
    with pytest.raises(ProcessError, match="part"):
        make(Process("part", SLEEP)).start()


def test_a_restart_that_cannot_be_made_is_tried_again(
    make: Make, events: list[tuple[str, str]], tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    gate.mkdir()
    with make(Process("part", SLEEP, cwd=gate)) as supervisor:
        pid = supervisor.pids()["part"]
        gate.rmdir()
        os.kill(pid, signal.SIGKILL)
        assert wait_for(lambda: any("cannot be started" in text for _, text in events))
        gate.mkdir()
        assert wait_for(lambda: supervisor.pids().get("part", pid) != pid)


def test_a_part_added_later_is_started_and_one_that_fails_harms_no_other(make: Make) -> None:
    with make(Process("first", SLEEP)) as supervisor:
        supervisor.add(Process("second", SLEEP))
        with pytest.raises(ProcessError, match="exit status 1"):
            supervisor.add(python("third", "raise SystemExit(1)", ready=lambda: False))
        assert set(supervisor.pids()) == {"first", "second"}


def test_two_parts_of_one_name_are_refused(make: Make) -> None:
    with pytest.raises(ValueError, match="named first"):
        make(Process("first", SLEEP), Process("first", SLEEP))


def test_a_request_to_stop_while_it_starts_is_heard(make: Make) -> None:
    supervisor = make(Process("good", SLEEP), Process("slow", SLEEP, ready=lambda: bool(supervisor.request_stop())))
    with pytest.raises(Stopped):
        supervisor.start()
    assert supervisor.pids() == {}


def test_ctrl_c_stops_everything(make: Make) -> None:
    supervisor = make(Process("part", SLEEP))
    before = signal.getsignal(signal.SIGINT)
    with stop_on_signals(supervisor), supervisor:
        pid = supervisor.pids()["part"]
        os.kill(os.getpid(), signal.SIGINT)
        supervisor.wait()
        assert not alive(pid)
    assert signal.getsignal(signal.SIGINT) == before


def test_what_runs_is_told_after_each_change(make: Make) -> None:
    told: list[dict[str, int]] = []
    with make(Process("part", SLEEP), on_change=lambda pids: told.append(dict(pids))) as supervisor:
        assert told[-1] == supervisor.pids() != {}
    assert told[-1] == {}


def test_a_disk_that_is_full_does_not_stop_the_service(make: Make, events: list[tuple[str, str]]) -> None:
    def full(_pids: object) -> None:
        raise OSError(28, "No space left on device")

    with make(Process("part", SLEEP), on_change=full) as supervisor:
        assert set(supervisor.pids()) == {"part"}
    assert any("No space left" in text for _, text in events)


def test_nothing_is_left_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from launch.process import Process\n"
        "from launch.supervisor import Supervisor\n"
        "supervisor = Supervisor(logs=Path(sys.argv[1]), mark=sys.argv[1], report=lambda *_event: None)\n"
        "[supervisor.add(Process(f'part-{n}', ('sleep', '60'))) for n in range(3)]\n"
        "supervisor.start(); print(*supervisor.pids().values(), flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert len(pids) == 3
        process.kill()
    assert not wait_until_gone(pids)


def test_what_left_its_session_is_found_by_its_mark_and_ended(make: Make, tmp_path: Path) -> None:
    child = tmp_path / "child"
    code = "import subprocess, time, pathlib; child = subprocess.Popen(['sleep', '60'], start_new_session=True); " \
           f"pathlib.Path({str(child)!r}).write_text(str(child.pid)); time.sleep(60)"  # fmt: skip
    with make(python("part", code), mark=str(tmp_path)):
        assert wait_for(lambda: child.exists() and child.read_text())
    pid = int(child.read_text())
    assert alive(pid)
    assert orphans.find(str(tmp_path)) == [pid]
    assert orphans.end(str(tmp_path), patience_s=0.2) == 1
    assert not wait_until_gone([pid])
    assert orphans.end(str(tmp_path)) == 0


def test_a_log_that_has_grown_is_set_aside_while_its_process_runs(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("launch.process._LOG_LIMIT_BYTES", 10)
    monkeypatch.setattr("launch.supervisor.TRIM_EVERY_S", 0.1)
    log = tmp_path / "log" / "part.log"
    go_on = tmp_path / "go on"
    code = f"""
import pathlib, time
print('an old and long story', flush=True)
while not pathlib.Path({str(go_on)!r}).exists():
    time.sleep(0.02)
print('new', flush=True)
time.sleep(60)
"""
    with make(python("part", code)):
        assert wait_for(lambda: log.with_suffix(".log.1").exists() and log.stat().st_size == 0)
        go_on.touch()
        assert wait_for(lambda: log.read_text() == "new\n")
    assert log.with_suffix(".log.1").read_text() == "an old and long story\n"


def test_a_log_that_cannot_be_set_aside_is_told_and_harms_nothing(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, events: list[tuple[str, str]]
) -> None:
    monkeypatch.setattr("launch.process._LOG_LIMIT_BYTES", 2)
    monkeypatch.setattr("launch.supervisor.TRIM_EVERY_S", 0.1)
    (tmp_path / "log" / "part.log.1").mkdir(parents=True)
    with make(python("part", "import time; print('long', flush=True); time.sleep(60)")) as supervisor:
        assert wait_for(lambda: any("cannot be set aside" in text for _, text in events))
        assert set(supervisor.pids()) == {"part"}
