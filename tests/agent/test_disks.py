"""Disks that fill up under a real agent: told as what they are, waited out, and nothing measured is lost."""

import errno
import os
import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.utils import timezone

from apps.agents import queries
from apps.agents.models import Agent, Job
from apps.testbeds.models import Node
from tests.agent.program import AgentProgram
from tests.agent.states import ended, reached
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for
from workers.agent import troubles
from workers.agent.clock import Clock
from workers.agent.removal import Clearing
from workers.agent.spool import Spool
from workers.agent.unsent import Unsent

as_root = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root"),
]
Mount = Callable[[Path], Path]


@pytest.fixture
def small_disk() -> Iterator[Mount]:
    """Mount a file system of 2 MiB at a folder."""
    mounted: list[Path] = []

    def mount(folder: Path) -> Path:
        folder.mkdir(mode=0o711, exist_ok=True)
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=2m,mode=711", "tmpfs", str(folder)], capture_output=True, check=False
        )
        if done.returncode:
            pytest.skip("nothing can be mounted here")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Use up all space of a file system."""
    path = folder / "filler"
    with path.open("wb", buffering=0) as file:
        while True:
            try:
                file.write(b"0" * 4096)
            except OSError as error:
                assert error.errno == errno.ENOSPC
                return path


def codes() -> list[str]:
    return [trouble["code"] for trouble in Agent.objects.get().troubles]


def is_ready(node: Node) -> bool:
    return node.pk in queries.ready_nodes(timezone.now())


class TestSpool:
    pytestmark = as_root

    def test_a_full_spool_is_told_and_waited_out(
        self, idle_agent: AgentProgram, node: Node, small_disk: Mount
    ) -> None:
        spool = small_disk(idle_agent.folder / "spool")
        filler = fill(spool)
        idle_agent.start()
        wait_for(lambda: codes() == ["spool-full"])
        assert not is_ready(node)
        # A job that is on its way all the same is handed back, and says why.
        job = ended(factories.job(node, "say"))
        assert (job.state, job.fault) == (Job.State.ENDED, "node-trouble")
        assert "spool" in job.fault_detail
        status = idle_agent.call("status", "--dir", str(idle_agent.folder)).stdout
        assert "trouble   spool-full" in status
        filler.unlink()
        wait_for(lambda: not codes())
        wait_for(lambda: is_ready(node))
        assert ended(factories.job(node, "say")).exit_code == 3

    def test_what_was_measured_while_the_spool_filled_up_is_kept_in_memory(
        self, idle_agent: AgentProgram, node: Node, small_disk: Mount, server: LiveServer
    ) -> None:
        spool = small_disk(idle_agent.folder / "spool")
        idle_agent.start()
        job = reached(factories.job(node, "noise"), Job.State.RUNNING)
        filler = fill(spool)
        server.stop()
        wait_for(lambda: idle_agent.said("the spool cannot be written"))
        server.start()
        job = ended(job)
        assert (job.exit_code, job.fault) == (0, "")
        assert job.output.stdout_bytes == 40000
        wait_for(lambda: "spool-full" in codes())
        assert not is_ready(node)
        filler.unlink()
        wait_for(lambda: not codes())


class TestWork:
    pytestmark = as_root

    def test_a_full_work_disk_fails_nothing_and_sets_the_node_aside(
        self, idle_agent: AgentProgram, node: Node, small_disk: Mount
    ) -> None:
        work = small_disk(idle_agent.folder / "work")
        filler = fill(work)
        idle_agent.start()
        wait_for(lambda: codes() == ["work-full"])
        assert not is_ready(node)
        job = ended(factories.job(node, "copy", files=[("input", "x" * 10000)]))
        assert job.fault == "node-trouble", job.fault_detail
        filler.unlink()
        wait_for(lambda: not codes())
        assert ended(factories.job(node, "say")).exit_code == 3

    def test_a_program_that_fails_on_a_full_disk_of_others_is_not_to_blame(
        self, idle_agent: AgentProgram, node: Node, small_disk: Mount
    ) -> None:
        work = small_disk(idle_agent.folder / "work")
        idle_agent.start()
        job = reached(factories.job(node, "nap", "4", time_limit_s=60), Job.State.RUNNING)
        fill(work)
        # It ends well: its result is one, whatever the disk says.
        assert (ended(job).exit_code, job.fault) == (0, "")

    def test_a_program_that_fills_the_disk_itself_is(
        self, idle_agent: AgentProgram, node: Node, small_disk: Mount
    ) -> None:
        small_disk(idle_agent.folder / "work")
        idle_agent.start()
        job = ended(factories.job(node, "gorge"))
        assert job.exit_code
        assert job.fault == ""
        assert not codes()

    def test_a_read_only_work_disk_is_told_as_such(
        self, idle_agent: AgentProgram, node: Node, small_disk: Mount
    ) -> None:
        work = small_disk(idle_agent.folder / "work")
        idle_agent.start()
        wait_for(lambda: Agent.objects.get().instance_id)
        subprocess.run(["mount", "-o", "remount,ro", str(work)], check=True)
        job = ended(factories.job(node, "say"))
        assert job.fault == "node-trouble"
        wait_for(lambda: codes() == ["work-read-only"])
        subprocess.run(["mount", "-o", "remount,rw", str(work)], check=True)
        wait_for(lambda: not codes())


def place(folder: Path) -> troubles.Place:
    return troubles.Place("work", folder, 1)


def test_a_failure_is_doubted_for_a_while_and_then_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = place(tmp_path)
    assert one.trouble() is None
    one.note(OSError(errno.EDQUOT, "Disk quota exceeded"))
    assert one.trouble() == ("work-full", f"Disk quota exceeded in {tmp_path}")
    real = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + troubles.DOUBT_S + 1)
    assert one.trouble() is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "code"), [(errno.EROFS, "work-read-only"), (errno.EIO, "work-unwritable"), (errno.ENOSPC, "work-full")]
)
def test_what_fails_is_named_by_its_cause(tmp_path: Path, number: int, code: str) -> None:
    one = place(tmp_path)
    one.note(OSError(number, "as the test says"))
    found = one.trouble()
    assert found is not None
    assert found[0] == code


def test_a_folder_that_is_gone_with_its_parent_cannot_be_written(tmp_path: Path) -> None:
    gone = tmp_path / "gone" / "work"
    assert place(gone).trouble() == ("work-unwritable", f"No such file or directory in {gone}")


def test_few_descriptors_and_a_set_clock_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(tmp_path / "spool")
    looked = troubles.Troubles(spool, tmp_path, Clock(), Clearing(), (), Unsent())
    assert looked.look() == []
    monkeypatch.setattr(resource, "getrlimit", lambda _what: (20, 20))
    assert [one["code"] for one in looked.look()] == ["few-descriptors"]
    monkeypatch.undo()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 120)
    (found,) = looked.look()
    assert found == {"code": "clock-set", "detail": "by -120.0 s"}


def test_a_record_that_could_not_be_written_is_once_the_disk_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path / "spool")
    record = spool.accept({"id": "a"})
    real = os.fsync
    path = tmp_path / "spool" / "a.jsonl"
    record.file.close()
    record.file = None
    path.chmod(0o600)

    def full(*_args: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as during:
        during.setattr(Path, "open", full)
        spool.note(record, ended_at=3.0)
        assert spool.sync(record)[0]["ended_at"] == 3.0
        assert record.is_torn
    assert real is os.fsync
    spool.sync(record)
    assert not record.is_torn
    (found,) = Spool.open(tmp_path / "spool")
    assert found.facts["ended_at"] == 3.0
