"""What a job leaves in memory (shared memory, segments, queues) goes with it: tried on a real agent."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from apps.testbeds.models import Node
from tests.agent import tools
from tests.agent.program import AgentProgram
from tests.agent.states import ended, printed
from tests.agent.test_confinement import answer_of, facts_of, needs_landlock
from tests.agents import factories
from tests.agents.live import wait_for
from workers.agent.config import Config
from workers.agent.identity import Identity
from workers.agent.sandbox import Confinement, Starter, kernel

pytestmark = pytest.mark.django_db(transaction=True)

# Root in a container may have no mounts of its own.
UNSHARE = ["unshare", "--mount", "--propagation", "shared"]
needs_mounts = pytest.mark.skipif(
    not shutil.which("unshare")
    or subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode != 0,
    reason="nobody here may have mounts of their own",
)


@pytest.fixture
def left() -> Iterator[Path]:
    """A place in the machine's shared memory that is nobody's."""
    path = Path("/dev/shm") / f"fathom-test-{uuid4().hex}"
    yield path
    path.unlink(missing_ok=True)


def shared_memory_of(pid: int | str) -> list[str]:
    """Return what a process sees mounted at /dev/shm; others mount elsewhere beside this test."""
    lines = Path(f"/proc/{pid}/mountinfo").read_text().splitlines()
    return [line for line in lines if line.split()[4] == "/dev/shm"]


@needs_mounts
def test_shared_memory_is_its_jobs_own_and_gone_with_it(shell: AgentProgram, node: Node, left: Path) -> None:
    shell.start()
    longer = factories.job(node, "sh", "-c", f"echo longer > {left}; sleep 3; cat {left}")
    wait_for(lambda: type(longer).objects.get(pk=longer.pk).started_at)
    # What a job starts shares it, also from another session.
    output = answer_of(
        node, f"(echo kin > {left}) & wait; setsid sh -c 'cat {left}'; stat -c %a /dev/shm; ls /dev/shm | wc -l"
    )
    assert output == "kin\n1777\n1\n"
    assert not left.exists()
    assert answer_of(node, "ls -A /dev/shm") == ""
    assert printed(ended(longer))["stdout"] == "longer\n"
    assert not left.exists()
    assert wait_for(lambda: facts_of(node))["confinement"]["own_shared_memory"]


@needs_mounts
def test_a_job_does_not_see_the_machines_shared_memory(shell: AgentProgram, node: Node, left: Path) -> None:
    left.write_text("secret of others")
    left.chmod(0o666)
    shell.start()
    output = answer_of(node, f"cat {left}; echo more > {left}; umount /dev/shm; stat -f -c '%b %S' /dev/shm")
    assert "secret of others" not in output
    assert left.read_text() == "secret of others"
    # As large as the machine's, so that what fitted fits.
    size = os.statvfs("/dev/shm")
    assert output.endswith(f"\n{size.f_blocks} {size.f_frsize}\n")


@needs_mounts
@needs_landlock
def test_no_job_reaches_anothers_shared_memory_by_its_processes(shell: AgentProgram, node: Node, left: Path) -> None:
    shell.start()
    longer = factories.job(node, "sh", "-c", f"echo longer > {left}; sleep 3; cat /proc/self/root{left}")
    wait_for(lambda: type(longer).objects.get(pk=longer.pk).started_at)
    output = answer_of(node, f"echo own > {left}; cat /proc/[0-9]*/root{left}")
    assert "own\n" in output
    assert "longer\n" not in output
    assert printed(ended(longer))["stdout"] == "longer\n"


@needs_mounts
def test_no_mount_of_a_job_gets_out(shell: AgentProgram, node: Node, left: Path) -> None:
    """Neither to the machine, nor to the agent, though its mounts are handed on to whoever shares them."""
    before = shared_memory_of("self")
    shell.prefix = tuple(UNSHARE)
    shell.start()
    answer_of(node, "true")
    assert shell.process is not None
    # The job has ended, and what it had let out would still be there.
    assert len(shared_memory_of(shell.process.pid)) == len(before)
    assert answer_of(node, f"echo here > {left}; cat {left}") == "here\n"
    assert len(shared_memory_of(shell.process.pid)) == len(before)
    assert shared_memory_of("self") == before
    assert not left.exists()


@needs_mounts
def test_a_job_sees_what_is_mounted_while_it_runs(shell: AgentProgram, node: Node) -> None:
    scratch = shell.home / "scratch"
    scratch.mkdir()
    tools.configure(shell.folder, paths=[str(scratch)])
    shell.prefix = tuple(UNSHARE)
    shell.start()
    job = factories.job(node, "sh", "-c", f"until test -e {scratch}/disk; do sleep 0.1; done; echo mounted")
    wait_for(lambda: type(job).objects.get(pk=job.pk).started_at)
    assert shell.process is not None
    enter = ["nsenter", "--mount", "--target", str(shell.process.pid), "sh", "-c"]
    subprocess.run([*enter, f"mount -t tmpfs none {scratch} && touch {scratch}/disk"], check=True, timeout=30)
    assert printed(ended(job)) == {"stdout": "mounted\n"}
    assert not (scratch / "disk").exists()


MAKE_QUEUE = "python3 -c 'import ctypes; print(ctypes.CDLL(None).msgget({key}, 0o1666) >= 0)'"
USE_QUEUE = "python3 -c 'import ctypes; print(ctypes.CDLL(None).msgget({key}, 0) >= 0)'"
MAKE_SEGMENT = "python3 -c 'import ctypes; print(ctypes.CDLL(None).shmget({key}, 4096, 0o1666) >= 0)'"
USE_SEGMENT = "python3 -c 'import ctypes; print(ctypes.CDLL(None).shmget({key}, 0, 0) >= 0)'"


def machines_own() -> str:
    """Return the lines of the machine's segments, queues and semaphores that have the test's key."""
    places = [Path("/proc/sysvipc") / name for name in ("shm", "msg", "sem")]
    return "\n".join(line for place in places for line in place.read_text().splitlines() if KEY in line.split())


# Of no other program's beside this test.
KEY = "1180787013"


@needs_mounts
@pytest.mark.parametrize(("make", "use"), [(MAKE_QUEUE, USE_QUEUE), (MAKE_SEGMENT, USE_SEGMENT)])
def test_what_a_job_leaves_of_system_v_is_gone_with_it(shell: AgentProgram, node: Node, make: str, use: str) -> None:
    shell.start()
    make, use = make.format(key=KEY), use.format(key=KEY)
    longer = factories.job(node, "sh", "-c", f"{make}; sleep 3; {use}")
    wait_for(lambda: type(longer).objects.get(pk=longer.pk).started_at)
    # What a job starts shares it; another job beside it does not.
    assert answer_of(node, f'{use}; {make}; setsid sh -c "{use}"') == "False\nTrue\nTrue\n"
    assert answer_of(node, use) == "False\n"
    assert printed(ended(longer))["stdout"] == "True\nTrue\n"
    assert machines_own() == ""
    assert wait_for(lambda: facts_of(node))["confinement"]["own_ipc"]


def test_where_mounts_are_refused_jobs_run_with_the_machines(shell: AgentProgram, node: Node, left: Path) -> None:
    """An agent without the right has what one has that is not root, or in a container."""
    if os.geteuid() == 0:
        shell.prefix = ("setpriv", "--bounding-set", "-sys_admin")
    shell.start()
    assert answer_of(node, f"echo here > {left}; cat {left}") == "here\n"
    assert left.read_text() == "here\n"
    confinement = wait_for(lambda: facts_of(node))["confinement"]
    assert confinement["no_new_privileges"]
    assert not confinement["own_shared_memory"]
    assert not confinement["own_ipc"]


def starter_of(held: Confinement, work: Path) -> Starter:
    enter = lambda: held.enter("sh", tools.SHELL, work)  # noqa: E731
    return Starter(enter, lambda: subprocess.Popen([tools.SHELL, "-c", "exit 7"]))


def test_a_job_starts_although_its_shared_memory_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("workers.agent.sandbox.confinement.SHARED_MEMORY", str(tmp_path / "missing"))
    held = Confinement.find(Config("http://x", "t"), Identity.own(), tmp_path)
    assert not held.own_shared_memory
    held = Confinement(held.config, held.identity, tmp_path, 0, no_new_privileges=True, own_shared_memory=True)
    starter = starter_of(held, tmp_path)
    assert starter.process().wait(30) == 7
    starter.release()
    assert "No such file or directory" in caplog.text


def test_a_job_starts_although_its_queues_fail(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As under a unit of an earlier version, which denies them alone."""

    def refuse() -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(kernel, "own_ipc", refuse)
    held = Confinement.find(Config("http://x", "t"), Identity.own(), tmp_path)
    assert not held.own_ipc
    held = Confinement(held.config, held.identity, tmp_path, 0, no_new_privileges=True, own_ipc=True)
    starter = starter_of(held, tmp_path)
    assert starter.process().wait(30) == 7
    starter.release()
    assert "System V segments and queues: Operation not permitted" in caplog.text
