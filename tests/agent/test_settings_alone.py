"""Two agents of one machine never hold settings at the same time: each would put back the other's."""

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.bench.settings import stages
from apps.bench.settings.stages import refusal_of
from apps.bench.toolkit import Output
from workers.agent.settings import holder

PROGRAM = """
import os, sys
from workers.agent.settings import holder
from workers.agent.settings.kernel import SettingError

class Journals:
    def apply(self, job_id):
        raise SettingError("the kernel was asked")

holder.ALONE, holder.PATIENCE_S = sys.argv[1], float(sys.argv[2])
sys.exit(holder.hold(Journals(), "7", os.getppid()))
"""


@pytest.fixture
def another(tmp_path: Path) -> Iterator[int]:
    """The lock of an agent that holds settings, until it is closed."""
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    yield descriptor
    with contextlib.suppress(OSError):
        os.close(descriptor)


def said_by(folder: Path, patience_s: float) -> str:
    """Return what one says that is to hold settings, with a folder for root's home."""
    argv = [sys.executable, "-c", PROGRAM, str(folder), str(patience_s)]
    process = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == 1
    return process.stderr


def test_the_second_sets_nothing_and_says_why(another: int, tmp_path: Path) -> None:
    words = said_by(tmp_path, 0.2)
    os.close(another)
    failure = refusal_of(Output("a", stages.STAGE, "n", (stages.PROGRAM,), b"", words.encode(), 1))
    assert stages.BUSY in words
    assert failure is not None
    assert failure.retryable
    assert "the kernel was asked" in said_by(tmp_path, 0.2)


def test_the_second_waits_for_one_that_is_about_to_end(another: int, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", PROGRAM, str(tmp_path), "30"]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as waiting:
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(1.0)
        os.close(another)
        assert "the kernel was asked" in waiting.communicate(timeout=60)[1]


def test_a_home_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert f"{tmp_path}/none: No such file or directory" in said_by(tmp_path / "none", 0.2)


@pytest.mark.skipif(os.getuid() != 0, reason="root's home is opened by root")
def test_other_users_cannot_hold_it() -> None:
    program = "import os; os.setgroups([]); os.setgid(65534); os.setuid(65534); os.open(%r, os.O_RDONLY)"
    argv = [sys.executable, "-c", program % holder.ALONE]
    assert "PermissionError" in subprocess.run(argv, capture_output=True, text=True, check=False).stderr
