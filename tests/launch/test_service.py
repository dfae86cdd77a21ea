"""The whole service starts, outlives its parts, refuses what it must, and leaves nothing behind."""

import os
import signal
import urllib.request
from concurrent import futures
from pathlib import Path

import pytest

from launch import commands, home, orphans, ports, service
from launch.process import ProcessError
from tests.launch import stack
from tests.launch.kept import accounts, served
from tests.launch.migrated import VAR, copy_to
from tests.launch.watching import wait_for, wait_until_gone
from tests.ports import free_port

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("launch-service")]


def answers(address: str, timeout_s: float = 10) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health/", timeout=timeout_s) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def test_it_prints_a_line_for_each_event_and_the_sign_in_once(running: stack.Stack) -> None:
    assert wait_for(lambda: "password:" in running.printed(), 60)
    # Other tests may have killed parts since.
    start, _serving, _later = running.printed().partition(f"serving at {running.address}")
    lines = start.splitlines()
    parts = ("postgres", "valkey", "worker-clock", "worker", "worker-long", "beat", "web")
    ends = {"migrate": "done", **dict.fromkeys(parts, "started")}
    for words in [f"  {part:<12} {end}" for part, end in ends.items()]:
        assert sum(words in line for line in lines) == 1, words
    assert running.printed().count("serving at ") == running.printed().count("password:") == 1


def test_it_answers_at_a_further_address_too(running: stack.Stack) -> None:
    assert answers(running.address)
    assert answers(running.address.replace("127.0.0.1", "127.0.1.1"))


def test_a_second_one_on_the_same_folder_is_refused(running: stack.Stack) -> None:
    second = stack.Stack(running.folder)
    assert second.process.wait(60) == 1
    assert f"already runs on {running.folder} at {running.address}" in second.printed()
    assert answers(running.address)


def test_a_port_that_is_taken_is_refused_with_the_remedy(running: stack.Stack, tmp_path: Path) -> None:
    second = stack.Stack(tmp_path / "var", PORT=running.env["PORT"])
    assert second.process.wait(60) == 1
    assert f"Port {running.env['PORT']} is taken" in second.printed()


# The others are killed once they have come to a halt (test_halts).
@pytest.mark.parametrize("part", ["worker-clock", "worker-long", "valkey", "postgres"])
def test_a_part_that_is_killed_starts_again(running: stack.Stack, part: str) -> None:
    assert wait_for(lambda: running.pid(part) is not None, 30)
    before = running.pid(part)
    running.kill(part)
    assert wait_for(lambda: running.pid(part) not in (None, before), 60), running.printed()
    assert wait_for(lambda: answers(running.address), 60)
    assert f"{part:<12} ended unexpectedly (killed by SIGKILL)" in running.printed()


def test_its_data_outlives_it_and_it_leaves_nothing(
    tmp_path: Path, migrated: Path, no_database_of_the_tests: None
) -> None:
    copy_to(tmp_path, migrated)
    folder = tmp_path / VAR
    first = stack.Stack(folder)
    first.wait_until_serving()
    pids = list(first.state()["parts"].values())
    assert wait_for(lambda: "password:" in first.printed(), 60)
    # Killed with -9 it cannot stop anything itself: the kernel does.
    first.process.kill()
    first.process.wait()
    assert not wait_until_gone(pids, 20)
    assert wait_for(lambda: orphans.find(str(folder)) == [])

    # What the killed one left (locks, state, sockets) is in nobody's way.
    with stack.running(folder, BIND="127.0.1.1") as second:
        pids = [second.process.pid, *second.state()["parts"].values()]
        assert answers(second.address)
        # Without names of its own, too.
        assert answers(second.address.replace("127.0.0.1", "127.0.1.1"))
        assert "password:" not in second.printed()
        # A request that nobody answers any more, the web server being frozen, is not left waiting either.
        os.kill(second.state()["parts"]["web"], signal.SIGSTOP)
        unanswered = futures.ThreadPoolExecutor(1).submit(answers, second.address, 60)
    assert second.process.returncode == 0
    assert unanswered.result(5) is False
    assert not wait_until_gone(pids, 1)
    assert orphans.find(str(folder)) == []
    assert second.state() == {}
    # It is whole after that stop, too.
    with served(folder) as address:
        assert accounts(address) == {"admin"}


def test_sigterm_stops_it_too_while_it_starts(tmp_path: Path) -> None:
    starting = stack.Stack(tmp_path / "var")
    assert wait_for(lambda: "started" in starting.printed(), 60)
    assert starting.stop(signal.SIGTERM) == 130
    assert "stopped before it was done" in starting.printed()
    assert orphans.find(str(tmp_path / "var")) == []


def test_servers_of_ones_own_are_used_instead_of_the_embedded_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql:///nothing-here?host=/nonexistent")
    monkeypatch.setenv("REDIS_URL", "unix:///nonexistent/sock?db=0")
    told: list[str] = []
    with pytest.raises(ProcessError, match=r"(?s)migrate ended.*nonexistent"):
        service.Service(tmp_path / "var", report=lambda part, text: told.append(part)).start()
    assert set(told) <= {"migrate", "supervisor"}
    # The folder is free again.
    home.Home(tmp_path / "var").lock()


def test_a_command_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(commands.ManageError, match="no_such_command"):
        service.Service(tmp_path).manage("no_such_command")


def test_a_taken_default_port_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    port = free_port()
    monkeypatch.setattr(ports, "DEFAULT", port)
    # With a setting that is wrong nothing starts.
    monkeypatch.setenv("HTTPS", "maybe")
    (taken,) = ports.open_sockets([service.LOOPBACK], port)
    with taken, pytest.raises(service.SettingsError):
        service.Service(tmp_path, report=lambda part, text: told.append(text)).start()
    assert any(f"port {port} is taken" in text for text in told)


def test_nothing_of_the_environment_of_the_tests_reaches_it(running: stack.Stack) -> None:
    assert running.state()["database_url"] != os.environ["DATABASE_URL"]
