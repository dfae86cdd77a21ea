"""Tests in several forked workers: they are told of as if one process had carried them out, whatever ends them."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
OUTCOMES = """
import logging, os, sys, warnings
import pytest

NOTES = os.open("notes", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

@pytest.fixture(scope="session", autouse=True)
def session(request, tmp_path_factory):
    os.write(NOTES, f"session {request.config.workerinput['workerid']} {tmp_path_factory.getbasetemp()}\\n".encode())
    yield
    os.write(NOTES, b"over\\n")

@pytest.fixture(autouse=True)
def note(request):
    os.write(NOTES, f"test {request.node.name} {os.getpid()}\\n".encode())

@pytest.mark.parametrize("number", range(6))
def test_passes(number, tmp_path):
    assert list(tmp_path.iterdir()) == []

@pytest.mark.xdist_group("together")
@pytest.mark.parametrize("number", range(3))
def test_goes_in_a_group(number):
    pass

def test_fails():
    print("printed before")
    os.system("echo printed by a program")
    logging.getLogger("its").error("logged before")
    warnings.warn("worn out", RuntimeWarning)
    assert sorted("ab") == ["b"]

@pytest.fixture
def broken():
    yield
    raise ValueError("not torn down")

def test_breaks_at_its_end(broken):
    pass

def test_is_skipped():
    pytest.skip("not today")

@pytest.mark.xfail(reason="known")
def test_is_known_to_fail():
    assert False

@pytest.mark.xdist_group("together")
def test_goes_in_the_same_group(record_property):
    record_property("answer", 42)
"""
ENDINGS = """
import os, signal, subprocess, time
from pathlib import Path
import pytest

@pytest.fixture
def thing():
    Path("thing").write_text(str(os.getpid()))
    program = subprocess.Popen(["sleep", "300"])
    yield program.pid
    program.kill()
    program.wait()
    Path("thing").unlink()

def test_takes_long(thing):
    Path("program").write_text(str(thing))
    time.sleep(200)

def test_hears_no_interruption():
    try:
        Path("deaf").touch()
        time.sleep(200)
    except KeyboardInterrupt:
        pass

def test_comes_later():
    Path("later").touch()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\njunit_family = xunit1\n")
    return tmp_path


def command(*options: str) -> list[str]:
    plugins = ["-p", "tests.running.plugin", "-p", "no:django", "-p", "no:cacheprovider"]
    return [sys.executable, "-m", "pytest", "-q", *plugins, *options]


def outcome(folder: Path, module: str, *options: str) -> tuple[int, str]:
    """Return the exit status of a run on a module, and what it printed."""
    (folder / "test_it.py").write_text(module)
    with (folder / "printed").open("w+") as printed:
        done = subprocess.run(
            command(*options),
            cwd=folder, env=environment(), stdout=printed, stderr=printed, timeout=60, check=False,
        )  # fmt: skip
        return done.returncode, (folder / "printed").read_text()


def environment() -> dict[str, str]:
    # The plugins of what is installed take a second of a processor to be imported, of each run.
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return alone | {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "TMPDIR": os.environ.get("TMPDIR", "/tmp")}


def notes(folder: Path, kind: str) -> list[list[str]]:
    return [words for line in (folder / "notes").read_text().splitlines() if (words := line.split())[0] == kind]


def test_they_tell_of_tests_as_one_process_does(folder: Path) -> None:
    status, printed = outcome(folder, OUTCOMES, "--workers", "3", "-ra", "--junitxml=junit.xml")
    assert status == 1
    assert "1 failed, 11 passed, 1 skipped, 1 xfailed, 1 warning, 1 error" in printed
    for text in ("printed before", "printed by a program", "logged before", "worn out", "not torn down", "not today"):
        assert text in printed
    assert "At index 0 diff: 'a' != 'b'" in printed
    assert re.search(
        r"^test_it.py +\d+ s  1 failed, 1 error, 11 passed, 1 skipped, 1 xfailed$", printed, re.MULTILINE
    )
    suite = ElementTree.parse(folder / "junit.xml").getroot()[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["14", "1", "1", "2"]
    assert [each.get("value") for each in suite.iter("property")] == ["42"]


def test_each_worker_has_a_session_a_name_and_a_folder_and_a_group_has_one_worker(folder: Path) -> None:
    outcome(folder, OUTCOMES, "--workers", "3")
    sessions = notes(folder, "session")
    assert {name for _session, name, _folder in sessions} <= {"gw0", "gw1", "gw2"}
    assert len({path for _session, _name, path in sessions}) == len(sessions) > 1
    assert len(notes(folder, "over")) == len(sessions)
    tests = notes(folder, "test")
    assert len(tests) == len({name for _test, name, _pid in tests}) == 14
    assert len({pid for _test, _name, pid in tests}) == len(sessions)
    group = [(name, pid) for _test, name, pid in tests if "group" in name]
    assert [name for name, _pid in group] == [
        *(f"test_goes_in_a_group[{number}]" for number in range(3)),
        "test_goes_in_the_same_group",
    ]
    assert len({pid for _name, pid in group}) == 1


def test_the_first_failure_ends_a_run_that_is_to_end_with_it(folder: Path) -> None:
    module = "import time\ndef test_fails():\n    assert 0\n" + "".join(
        f"def test_{number}():\n    time.sleep(0.2)\n" for number in range(60)
    )
    began = time.monotonic()
    status, printed = outcome(folder, module, "--workers", "2", "-x")
    assert status == 1 and "stopping after 1 failures" in printed
    assert "1 failed" in printed and "60 passed" not in printed
    assert time.monotonic() - began < 60


def test_what_failed_is_what_lf_carries_out_again(folder: Path) -> None:
    module = (
        "import pytest\n@pytest.mark.parametrize('number', range(8))\ndef test_it(number):\n    assert number % 4\n"
    )
    plugins = ("--workers", "2", "-p", "cacheprovider")
    assert "2 failed, 6 passed" in outcome(folder, module, *plugins)[1]
    assert "2 failed, 3 warnings in" in outcome(folder, module, *plugins, "--lf")[1]
    assert "1 failed, 7 deselected" in outcome(folder, module, *plugins, "-k", "4")[1]


def test_a_worker_that_dies_fails_its_test_and_another_takes_the_rest_on(folder: Path) -> None:
    module = "import os, pytest\npytestmark = pytest.mark.xdist_group('all')\n" + "".join(
        f"def test_{number}():\n    {'os.kill(os.getpid(), 9)' if number in (1, 3) else 'pass'}\n"
        for number in range(5)
    )
    status, printed = outcome(folder, module, "--workers", "2", "-rf")
    assert status == 1 and "2 failed, 3 passed" in printed
    assert "The worker gw0 died with this test: killed by SIGKILL." in printed
    assert "FAILED test_it.py::test_1" in printed and "FAILED test_it.py::test_3" in printed


def test_a_worker_whose_death_a_process_of_its_hides_is_missed_nevertheless(folder: Path) -> None:
    module = """
import os, time
from pathlib import Path
def test_dies():
    if os.fork() == 0:
        deadline = time.monotonic() + 90
        while not Path("over").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        os._exit(0)
    os._exit(9)
def test_other():
    pass
"""
    _status, printed = outcome(folder, module, "--workers", "2")
    (folder / "over").touch()
    assert "1 failed, 1 passed" in printed and "exit status 9" in printed


def test_an_exit_that_a_test_asks_for_ends_the_run(folder: Path) -> None:
    module = "import pytest\ndef test_it():\n    pytest.exit('enough')\ndef test_other():\n    pass\n"
    status, printed = outcome(folder, module, "--workers", "2")
    assert status == 2 and "enough" in printed


def test_what_breaks_outside_of_tests_is_no_failed_test(folder: Path) -> None:
    (folder / "conftest.py").write_text("def pytest_runtest_logstart():\n    raise ValueError('a broken plugin')\n")
    status, printed = outcome(folder, "def test_it():\n    pass\n", "--workers", "1")
    assert status == 3 and "INTERNALERROR" in printed and "a broken plugin" in printed


@pytest.mark.parametrize("workers", [(), ("--workers", "2")])
def test_a_failure_that_python_cannot_show_at_once_is_a_failure(folder: Path, workers: tuple[str, ...]) -> None:
    (folder / "conftest.py").write_text(
        "def pytest_runtest_makereport(call):\n    if call.excinfo:\n        raise SystemError('depth mismatch')\n"
    )
    module = "def test_it():\n    assert 1 == 2\ndef test_other():\n    pass\n"
    status, printed = outcome(folder, module, *workers)
    assert status == 1 and "assert 1 == 2" in printed and "1 failed, 1 passed" in printed


def test_a_debugger_needs_one_process(folder: Path) -> None:
    status, printed = outcome(folder, "", "--workers", "2", "--pdb")
    assert status == 4 and "leave --workers out" in printed


def test_without_workers_pytest_carries_them_out_itself(folder: Path) -> None:
    module = "import os\ndef test_it(request):\n    assert not hasattr(request.config, 'workerinput')\n"
    assert outcome(folder, module)[0] == 0


def until(what: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def lives(file: Path) -> bool:
    """Say whether the process of which a file holds the number is there, and no zombie."""
    try:
        return Path(f"/proc/{int(file.read_text())}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("kill", [os.kill, os.killpg])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whatever_ends_the_run_nothing_is_left(
    folder: Path, number: signal.Signals, kill: Callable[[int, int], None]
) -> None:
    assert _ended(folder, number, kill) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a parent's death")
def test_workers_end_with_a_process_that_is_killed(folder: Path) -> None:
    assert _ended(folder, signal.SIGKILL, os.kill) == -signal.SIGKILL


def _holds_number(file: Path) -> bool:
    return file.exists() and bool(file.read_text())


def _ended(folder: Path, number: signal.Signals, kill: Callable[[int, int], None]) -> int:
    """Return the exit status of a run that a signal ended; nothing of it is left, and no test was begun since."""
    (folder / "test_it.py").write_text(ENDINGS)
    with (folder / "printed").open("w") as printed:
        run = subprocess.Popen(
            command("--workers", "2"), cwd=folder, env=environment(), start_new_session=True, stdout=printed
        )
    # A file is there before the number is in it.
    assert until(lambda: _holds_number(folder / "program") and (folder / "deaf").exists())
    worker, program = folder / "worker", folder / "program"
    worker.write_text((folder / "thing").read_text())
    assert lives(worker) and lives(program)
    kill(run.pid, number)
    status = run.wait(60)
    assert until(lambda: not lives(worker)) and not lives(program)
    assert not (folder / "thing").exists() and not (folder / "later").exists()
    return status
