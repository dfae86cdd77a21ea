"""What has come to a halt is noticed, killed, told, and started again; what only waits is left alone."""

import itertools
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from launch import home, liveness, service, supervisor
from launch.liveness import FileSign, Listener
from launch.process import Process
from tests.hanging import held
from tests.launch import busy_starts
from tests.launch.watching import alive, wait_for, wait_until_gone

SLEEP = ("sleep", "60")
Events = list[tuple[str, str]]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "ASK_EVERY_S", 0.05)
    # Each look reads all processes of the machine.
    monkeypatch.setattr(supervisor, "HALTS_EVERY_S", 0.1)


@pytest.fixture
def running(tmp_path: Path, quick: None) -> Iterator[Callable[[Process], tuple[supervisor.Supervisor, Events]]]:
    started: list[supervisor.Supervisor] = []

    def start(process: Process) -> tuple[supervisor.Supervisor, Events]:
        events: Events = []
        watched = supervisor.Supervisor(
            logs=tmp_path / "log", report=lambda *event: events.append(event), delays_s=(0.05,)
        )
        watched.add(process)
        watched.start()
        started.append(watched)
        return watched, events

    yield start
    for watched in started:
        watched.stop()


Start = Callable[[Process], tuple[supervisor.Supervisor, Events]]


def test_a_part_that_gives_no_sign_of_life_any_more_starts_again(running: Start, tmp_path: Path) -> None:
    halted = tmp_path / "halted"
    part = Process("part", SLEEP, sign=lambda: not halted.exists(), hang_after_s=0.3)
    watched, events = running(part)
    pid = watched.pids()["part"]
    time.sleep(1)
    assert watched.pids()["part"] == pid
    halted.touch()
    assert wait_for(lambda: ("part", "gave no sign of life for 0.3 s, killed") in events)
    halted.unlink()
    assert wait_for(lambda: watched.pids().get("part", pid) != pid)
    assert not wait_until_gone([pid])
    assert any("starts again" in text for _part, text in events)


def test_a_part_has_longer_for_its_first_sign(running: Start) -> None:
    begun = time.monotonic()
    _watched, events = running(Process("slow", SLEEP, sign=lambda: False, hang_after_s=0.2, ready_timeout_s=1.5))
    assert wait_for(lambda: any("no sign" in text for _part, text in events))
    assert time.monotonic() - begun > 1.5


def test_a_part_that_uses_the_processor_before_its_first_sign_is_starting(
    running: Start, tmp_path: Path, little_is_effort: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long a busy machine takes.
    monkeypatch.setattr("launch.part.MOST_PATIENCE", 1000)
    watched, events = running(starting(tmp_path, for_s=3))
    pid = watched.pids()["part"]
    assert wait_for((tmp_path / "ready").exists, 60)
    time.sleep(0.5)
    assert watched.pids()["part"] == pid
    assert not [text for _part, text in events if "killed" in text]


def test_a_part_that_only_uses_the_processor_starts_again_in_the_end(
    running: Start, tmp_path: Path, little_is_effort: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("launch.part.MOST_PATIENCE", 2)
    _watched, events = running(starting(tmp_path, for_s=600))
    begun = time.monotonic()
    assert wait_for(lambda: any("no sign" in text for _part, text in events))
    assert time.monotonic() - begun > 2


def starting(folder: Path, *, for_s: float) -> Process:
    """Return a part that uses some of a processor for so long before it gives signs, and has 1.5 s to do so."""
    argv = (sys.executable, "-S", "-c", busy_starts.code(folder / "ready", for_s=for_s))
    return Process("part", argv, sign=(folder / "ready").exists, hang_after_s=0.3, ready_timeout_s=1.5)


def test_a_part_that_was_stopped_starts_again(running: Start) -> None:
    watched, events = running(Process("part", SLEEP, hang_after_s=0.3))
    pid = watched.pids()["part"]
    os.kill(pid, signal.SIGSTOP)
    assert wait_for(lambda: ("part", "was stopped for 0.3 s, killed") in events)
    assert wait_for(lambda: watched.pids().get("part", pid) != pid)


@contextmanager
def stopped_by_a_signal(pids: Sequence[int]) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    yield


@pytest.mark.parametrize("hold", [stopped_by_a_signal, held])
def test_a_child_that_was_stopped_is_killed_and_the_part_goes_on(
    hold: Callable[[Sequence[int]], AbstractContextManager[None]], running: Start, tmp_path: Path
) -> None:
    told = tmp_path / "children"
    code = f"""
import subprocess, pathlib, time
children = [subprocess.Popen(['sleep', '60']) for number in range(2)]
pathlib.Path({str(told)!r}).write_text(' '.join(str(child.pid) for child in children))
time.sleep(60)
"""
    watched, events = running(Process("part", (sys.executable, "-S", "-c", code), hang_after_s=0.3))
    assert wait_for(lambda: told.exists() and told.read_text())
    stopped, other = map(int, told.read_text().split())
    with hold([stopped]):
        assert wait_for(lambda: ("part", f"its process {stopped} was stopped for 0.3 s, killed") in events)
        assert not wait_until_gone([stopped])
    assert alive(other)
    assert alive(watched.pids()["part"])


def test_one_that_goes_on_in_time_is_left_alone(running: Start) -> None:
    watched, events = running(Process("part", SLEEP, hang_after_s=2))
    pid = watched.pids()["part"]
    for _time in range(3):
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.3)
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.3)
    assert watched.pids()["part"] == pid
    assert not [text for _part, text in events if "killed" in text]


def test_who_was_stopped_itself_blames_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    monkeypatch.setattr(liveness, "ASK_EVERY_S", 0.01)
    monkeypatch.setattr(liveness, "_LONGEST_ASK_S", 0.05)

    def answer() -> bool:
        asked.append(time.monotonic())
        if len(asked) == 2:
            # As long as the supervisor, and all that it asks, may be stopped.
            time.sleep(1)
            return False
        return len(asked) != 3

    listener = Listener("part", answer)
    try:
        assert wait_for(lambda: len(asked) >= 3)
        assert not listener.is_silent(after_s=0.5, at_first_s=0.5)
    finally:
        listener.stop()


def test_a_file_is_a_sign_each_time_it_was_touched(tmp_path: Path) -> None:
    sign = FileSign(tmp_path / "sign")
    assert not sign()
    sign.file.touch()
    assert sign()
    assert not sign()
    os.utime(sign.file, (0, 1))
    # A clock that was set back is a sign, too.
    assert sign()


def test_a_process_that_ends_while_it_is_looked_at_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "8").mkdir()
    (tmp_path / "8" / "stat").write_text("8 (a) name) T 1 5 5 0" + " 0" * 7 + " 100 0 0 0 20")
    found = liveness.processes_by_group(str(tmp_path))
    assert found == {5: {8: liveness.Moment("T", 100 / os.sysconf("SC_CLK_TCK"))}}
    # Where the kernel tells nothing of processes, none is known to be stopped.
    assert liveness.processes_by_group(str(tmp_path / "none")) == {}


def test_one_reading_of_the_machines_processes_serves_all_parts(
    running: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings: list[float] = []
    read = liveness.processes_by_group

    def count() -> dict[int, dict[int, liveness.Moment]]:
        readings.append(time.monotonic())
        return read()

    monkeypatch.setattr(liveness, "processes_by_group", count)
    monkeypatch.setattr(supervisor, "HALTS_EVERY_S", 0.5)
    watched, _events = running(Process("part-0", SLEEP))
    for number in range(1, 6):
        watched.add(Process(f"part-{number}", SLEEP))
    readings.clear()
    assert wait_for(lambda: len(readings) == 4)
    assert all(later - one >= 0.5 for one, later in itertools.pairwise(readings[:4]))


@pytest.mark.parametrize("text", ["soon", "3", "-30", "1e3"])
def test_a_wrong_time_is_refused_in_words(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HANG_AFTER", text)
    with pytest.raises(home.HomeError, match=f"HANG_AFTER={text} is no time: give a number of seconds, 10 or more"):
        service.Service(tmp_path)


def test_every_part_that_goes_on_gives_signs_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HANG_AFTER", "17")
    made = service.Service(tmp_path)
    made.home.lock()
    try:
        made._set_environment()
        table = made._table()
    finally:
        made.home.unlock()
    assert {process.name for process in table if not process.once and process.sign is None} == set()
    assert {process.hang_after_s for process in table} == {17.0}
    files = [process.env["FATHOM_SIGN"] for process in table if "FATHOM_SIGN" in process.env]
    assert len(set(files)) == len(files) >= 3
    # Each is a disk of its own, perhaps, without room on which it ends.
    data = {process.name: process.writes_in for process in table}
    assert [name for name, folders in data.items() if not folders] == []
    cluster = tmp_path / "postgres/cluster"
    assert (data["postgres"], data["valkey"]) == ((cluster, cluster / "pg_wal"), (tmp_path / "valkey",))


def test_a_question_that_fails_is_no_sign_and_the_next_is_asked(
    quick: None, caplog: pytest.LogCaptureFixture
) -> None:
    answers = iter([True, ConnectionError("MISCONF"), ConnectionError("MISCONF"), True, ConnectionError("again")])

    def sign() -> bool:
        answer = next(answers, True)
        if isinstance(answer, Exception):
            raise answer
        return answer

    listener = Listener("part", sign)
    assert wait_for(lambda: next(answers, None) is None)
    assert wait_for(lambda: not listener.is_silent(after_s=0.01, at_first_s=0.01))
    listener.stop()
    # Once for each outage.
    assert 1 <= caplog.text.count("cannot be asked for") <= 2


def test_a_part_that_was_killed_gets_more_time_until_it_was_well_for_long(
    running: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = Process("part", SLEEP, sign=lambda: False, hang_after_s=0.2, ready_timeout_s=0.2)
    _watched, events = running(part)
    assert wait_for(lambda: ("part", "gave no sign of life for 0.4 s, killed") in events)
    assert ("part", "gave no sign of life for 0.2 s, killed") in events
    monkeypatch.setattr("launch.part.LATELY_S", 0.0)
    count = events.count(("part", "gave no sign of life for 0.2 s, killed"))
    assert wait_for(lambda: events.count(("part", "gave no sign of life for 0.2 s, killed")) > count)
