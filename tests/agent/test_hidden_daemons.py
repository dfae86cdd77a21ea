"""What hides its session, folder and home is still known for its job's by the memory that it has: on a real agent."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from apps.agents.models import Job
from apps.testbeds.models import Node
from tests.agent.program import AgentProgram, processes_with, wait_until_gone
from tests.agent.states import ended, reached
from tests.agent.test_own_memory import needs_mounts
from tests.agents import factories
from tests.agents.live import wait_for
from workers.agent import kin

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).resolve().parents[2]
# Two forks, a session of its own, the root folder, no environment and no pipe of the job's.
HIDDEN = "(cd / && env -i setsid sleep {word} </dev/null >/dev/null 2>&1 &)"
WITHOUT_MOUNTS = ("setpriv", "--bounding-set", "-sys_admin") if os.geteuid() == 0 else ()


@pytest.fixture
def word() -> Iterator[str]:
    """A number of seconds that no other process sleeps."""
    number = str(10**6 + uuid4().int % 10**9)
    yield number
    for pid in processes_with(number):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def job_with_daemon(node: Node, word: str, then: str) -> Job:
    command = f"{HIDDEN.format(word=word)}; {then}"
    return factories.job(node, "sh", "-c", command, time_limit_s=100)


@needs_mounts
def test_a_hidden_daemon_of_a_killed_agent_ends_when_that_returns(shell: AgentProgram, node: Node, word: str) -> None:
    shell.start()
    job = reached(job_with_daemon(node, word, "sleep 50"), Job.State.RUNNING)
    wait_for(lambda: processes_with(word))
    shell.stop(signal.SIGKILL)
    assert processes_with(word)
    shell.start()
    assert ended(job).fault == "agent-restarted"
    # Before its end is told.
    assert not processes_with(word)


@needs_mounts
def test_a_program_that_may_not_use_shared_memory_is_known_by_it_too(agent: AgentProgram, node: Node) -> None:
    job = reached(factories.job(node, "ping", "-n", "-c", "7261", "127.0.0.1", time_limit_s=100), Job.State.RUNNING)
    (pid,) = wait_for(lambda: processes_with("7261"))
    name = kin.memory_name(agent.folder / "work" / str(job.pk))
    assert f" - tmpfs {name} " in Path(f"/proc/{pid}/mountinfo").read_text()


@needs_mounts
def test_a_hidden_daemon_ends_with_its_job_and_not_with_those_beside_it(
    shell: AgentProgram, node: Node, word: str
) -> None:
    shell.start()
    longer = reached(factories.job(node, "sh", "-c", "sleep 50", time_limit_s=100), Job.State.RUNNING)
    assert ended(job_with_daemon(node, word, "true")).exit_code == 0
    assert not processes_with(word)
    longer.refresh_from_db()
    assert longer.state == Job.State.RUNNING


def test_without_memory_of_its_own_a_hidden_daemon_outlives_a_killed_agent(
    shell: AgentProgram, node: Node, word: str
) -> None:
    """As docs/agents.md says; what kept its home, and only left the session and the folder, does not."""
    shell.prefix = WITHOUT_MOUNTS
    known = f"{word}.5"
    shell.start()
    command = f"{HIDDEN.format(word=word)}; (cd / && setsid sleep {known} </dev/null >/dev/null 2>&1 &); sleep 50"
    job = reached(factories.job(node, "sh", "-c", command, time_limit_s=100), Job.State.RUNNING)
    wait_for(lambda: processes_with(word) and processes_with(known))
    shell.stop(signal.SIGKILL)
    shell.start()
    assert ended(job).fault == "agent-restarted"
    wait_until_gone(known)
    assert processes_with(word)


# In mounts of its own, which its child shares; told the job's folder, what to mount, and where.
PROGRAM = """
import subprocess, sys
from pathlib import Path
from workers.agent import kin
name = kin.memory_name(Path(sys.argv[1]))
subprocess.run(["mount", "-t", sys.argv[2], name, sys.argv[3]], check=True)
child = subprocess.Popen(["sleep", "60"], cwd="/", env={})
print(child.pid, kin.belongs_to(child.pid, Path(sys.argv[1])), flush=True)
sys.stdin.read()
child.kill()
"""


@needs_mounts
@pytest.mark.parametrize(("kind", "is_known"), [("tmpfs", True), ("ramfs", False)])
def test_a_process_is_known_by_its_memory_alone(tmp_path: Path, kind: str, is_known: bool) -> None:
    """Not by what the one that asks has itself, nor by what users can mount under any name."""
    folder, place = tmp_path / "a job's #1 folder", tmp_path / "place"
    place.mkdir()
    argv = ["unshare", "--mount", sys.executable, "-c", PROGRAM, str(folder), kind, str(place)]
    program = subprocess.Popen(argv, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert program.stdout is not None
    child, belongs = program.stdout.readline().split()
    try:
        assert belongs == "False"
        assert kin.belongs_to(int(child), folder) is is_known
        assert not kin.belongs_to(int(child), tmp_path / "a job's #1")
        assert not kin.belongs_to(1, folder)
        assert not kin.belongs_to(os.getpid(), folder)
    finally:
        program.communicate("")


# The first process of its machine, as far as it sees: what it mounts is everybody's, also who has mounts of his own.
FIRST = """
import subprocess, sys
from pathlib import Path
from workers.agent import kin
name = kin.memory_name(Path(sys.argv[1]))
subprocess.run(["mount", "-t", "tmpfs", name, sys.argv[1]], check=True)
child = subprocess.Popen(["unshare", "--mount", "sh", "-c", "echo; exec sleep 60"], cwd="/", env={}, stdout=-1)
child.stdout.readline()
print(name in Path(f"/proc/{child.pid}/mountinfo").read_text(), kin.belongs_to(child.pid, Path(sys.argv[1])))
"""


@needs_mounts
def test_memory_that_all_the_machine_sees_is_no_jobs(tmp_path: Path) -> None:
    argv = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", sys.executable, "-c", FIRST, str(tmp_path)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["True", "False"]
