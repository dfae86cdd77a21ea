"""The two emulators as programs, and the choice between them; test_forwarding.py sends packets through both."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab import emulator, forwarder, programs
from lab.machine import LabError
from lab.spec import Link, read_lab
from tests.agents.live import wait_for
from tests.lab.labs import KISTI_PUSAN

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler is installed"
)
GOOD = ["ifa", "ifb", "1000", "2270", "4000000", "0", "1", "38", "0"]


@pytest.fixture
def link() -> Link:
    return read_lab(KISTI_PUSAN).links[0]


def compiler(folder: Path, script: str) -> str:
    """Return a compiler of our own making."""
    program = folder / "compiler"
    program.write_text("#!/bin/sh\n" + script)
    program.chmod(0o755)
    return str(program)


@needs_compiler
@pytest.mark.parametrize(
    ("place", "wrong", "message"),
    [
        (2, "fast", "RATE_MBIT must be a number from 0.001 to 1e+06, not 'fast'"),
        (2, "0", "RATE_MBIT must be a number from 0.001 to 1e+06, not '0'"),
        (2, "1x", "RATE_MBIT must be a number from 0.001 to 1e+06, not '1x'"),
        (3, "-1", "DELAY_US must be a number from 0 to 1e+07, not '-1'"),
        (4, "", "QUEUE_BYTES must be a number from 1 to 1e+09, not ''"),
        (5, "1.5", "LOSS must be a number from 0 to 1, not '1.5'"),
        (5, "nan", "LOSS must be a number from 0 to 1, not 'nan'"),
        (6, "70000", "SEED must be a number from 0 to 65535, not '70000'"),
        (7, "-1", "OVERHEAD must be a number from 0 to 1000, not '-1'"),
        (8, "me", "PARENT must be a number from 0 to 1e+09, not 'me'"),
    ],
)
def test_both_refuse_a_wrong_argument_alike(tmp_path: Path, place: int, wrong: str, message: str) -> None:
    arguments = [*GOOD[:place], wrong, *GOOD[place + 1 :]]
    for kind in ("c", "python"):
        command = emulator.choose(kind, tmp_path, print)
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"forwarder: {message}\n")


@needs_compiler
@pytest.mark.parametrize("arguments", [[], GOOD[:-1], [*GOOD, "more"]])
def test_both_say_how_they_are_used_alike(tmp_path: Path, arguments: list[str]) -> None:
    commands = [emulator.choose(kind, tmp_path, print) for kind in ("c", "python")]
    in_c, in_python = [
        subprocess.run([*command, *arguments], capture_output=True, text=True, check=False) for command in commands
    ]
    assert in_c.returncode == in_python.returncode == 2
    assert in_c.stderr == in_python.stderr
    assert in_c.stderr.startswith("usage: forwarder IFA IFB RATE_MBIT")


@needs_compiler
def test_neither_runs_without_the_parent_it_should_die_with(tmp_path: Path) -> None:
    for kind in ("c", "python"):
        command = emulator.choose(kind, tmp_path, print)
        done = subprocess.run([*command, *GOOD[:-1], "1"], capture_output=True, text=True, check=False)
        message = "forwarder: the process 1 that it should die with is not its parent\n"
        assert (done.returncode, done.stderr) == (1, message)


def test_both_roll_the_same_dice() -> None:
    libc = ctypes.CDLL(None)
    libc.erand48.restype = ctypes.c_double
    state = (ctypes.c_ushort * 3)(40000, 1, 7)
    dice = forwarder.Dice(40000, 1)
    assert [dice.roll() for _ in range(100)] == [libc.erand48(state) for _ in range(100)]


@needs_compiler
def test_the_emulator_is_compiled_once(tmp_path: Path) -> None:
    program = programs.compiled(emulator.SOURCE, tmp_path / "a folder")
    made = program.stat().st_mtime_ns
    assert programs.compiled(emulator.SOURCE, tmp_path / "a folder") == program
    assert program.stat().st_mtime_ns == made
    assert list(program.parent.iterdir()) == [program]


def test_python_is_taken_when_asked_for(tmp_path: Path) -> None:
    assert emulator.choose("python", tmp_path, print)[0] == sys.executable
    assert not list(tmp_path.iterdir())


def test_without_a_compiler_python_stands_in_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    said: list[str] = []
    command = emulator.choose("auto", tmp_path, said.append)
    assert command[-1].endswith("forwarder.py")
    assert said[0].startswith("No C compiler was found (cc, gcc or clang). The link runs in Python instead")
    with pytest.raises(LabError, match="No C compiler was found"):
        emulator.choose("c", tmp_path, said.append)


def test_a_compiler_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", compiler(tmp_path, "echo 'no headers' >&2; exit 1"))
    with pytest.raises(LabError, match=r"The C compiler refused forwarder\.c: no headers"):
        programs.compiled(emulator.SOURCE, tmp_path / "cache")


def test_a_compiler_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", str(tmp_path / "nowhere"))
    with pytest.raises(LabError, match="nowhere does not run: No such file"):
        programs.compiled(emulator.SOURCE, tmp_path / "cache")


def test_a_program_that_does_not_run_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = 'while [ "$1" != -o ]; do shift; done; echo nonsense > "$2"'
    monkeypatch.setenv("CC", compiler(tmp_path, script))
    with pytest.raises(LabError, match=r"does not run \(may programs be run from that folder\?\)"):
        programs.compiled(emulator.SOURCE, tmp_path / "cache")


def start(link: Link, tmp_path: Path, script: str) -> int:
    command = ("/bin/sh", "-c", script)
    return emulator.start(command, link, ("ifa", "ifb"), log=tmp_path / "log", parent=0)


def test_an_emulator_that_ends_at_once_is_quoted(tmp_path: Path, link: Link) -> None:
    with pytest.raises(LabError, match="The emulator of KISTI-Pusan ended at once: no such device"):
        start(link, tmp_path, "echo no such device >&2; exit 1")


def test_an_emulator_that_never_gets_ready_is_ended(
    tmp_path: Path, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emulator, "_READY_S", 0.3)
    with pytest.raises(LabError, match="was not ready within"):
        start(link, tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 60")
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_an_emulator_is_given_the_links_numbers(tmp_path: Path, link: Link) -> None:
    start(link, tmp_path, 'echo ready "$0" "$@"')
    assert (tmp_path / "log").read_text() == "ready ifa ifb 1000 2270 4000000 0 1 38 0\n"


def test_only_an_emulator_of_this_lab_is_recognised() -> None:
    argv = [sys.executable, "-c", "import time; time.sleep(60)", "forwarder.py", "fmabcdef0a"]
    processes = [subprocess.Popen(argv), subprocess.Popen([*argv[:3], "other.py", "fmabcdef0a"])]
    try:
        # For a moment after its start a process has no command line yet.
        wait_for(lambda: emulator.carries("fmabcdef")(processes[0].pid))
        assert not emulator.carries("fm123456")(processes[0].pid)
        assert not emulator.carries("fmabcdef")(processes[1].pid)
    finally:
        for process in processes:
            process.kill()
            process.wait()
