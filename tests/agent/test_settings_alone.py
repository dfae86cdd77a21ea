"""Two agents of one machine never hold settings at the same time: each would put back the other's."""

import os
import socket
import subprocess
import sys

import pytest

from apps.bench.settings import stages
from apps.bench.settings.stages import refusal_of
from apps.bench.toolkit import Output

PROGRAM = """
import os, sys
from workers.agent.settings import holder
from workers.agent.settings.kernel import SettingError

class Journals:
    def apply(self, job_id):
        raise SettingError("the kernel was asked")

holder.ALONE, holder.PATIENCE_S = "\\0" + sys.argv[1], float(sys.argv[2])
sys.exit(holder.hold(Journals(), "7", os.getppid()))
"""


@pytest.fixture
def name() -> str:
    return f"fathom-test-{os.getpid()}"


def said_by(name: str, patience_s: float) -> str:
    """Return what one says that is to hold settings under a name."""
    argv = [sys.executable, "-c", PROGRAM, name, str(patience_s)]
    process = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == 1
    return process.stderr


def test_the_second_sets_nothing_and_says_why(name: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(f"\0{name}")
        words = said_by(name, 0.2)
    failure = refusal_of(Output("a", stages.STAGE, "n", (stages.PROGRAM,), b"", words.encode(), 1))
    assert stages.BUSY in words
    assert failure is not None
    assert failure.retryable
    assert "the kernel was asked" in said_by(name, 0.2)


def test_the_second_waits_for_one_that_is_about_to_end(name: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(f"\0{name}")
        argv = [sys.executable, "-c", PROGRAM, name, "30"]
        with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as waiting:
            with pytest.raises(subprocess.TimeoutExpired):
                waiting.wait(1.0)
            other.close()
            assert "the kernel was asked" in waiting.communicate(timeout=60)[1]
