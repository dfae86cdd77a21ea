"""Disks that cease to answer under a real agent: limits stay in force, polls go on, and it says what is wrong."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from apps.agents import queries
from apps.agents.models import Agent, Job
from apps.testbeds.models import Node
from tests.agent.program import AgentProgram, processes_with, wait_until_gone
from tests.agent.states import ended, reached
from tests.agents import factories
from tests.agents.live import wait_for
from workers.agent import disks, process, troubles
from workers.agent.identity import Identity
from workers.agent.ready import compile_pattern
from workers.agent.spool import Spool

ROOT = Path(__file__).resolve().parents[2]
as_root = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root"),
]


class FrozenDisk:
    """A file system of its own whose writers can be made to wait in the kernel, as those of a hung disk do."""

    def __init__(self, image: Path, folder: Path) -> None:
        self.image, self.folder = image, folder
        with image.open("wb") as file:
            file.truncate(16 * 2**20)
        folder.mkdir(mode=0o711, exist_ok=True)
        self._call("mkfs.ext4", "-q", "-F", str(image))
        self._call("mount", "-o", "loop", str(image), str(folder))
        self.is_frozen = False
        folder.chmod(0o711)
        (folder / "lost+found").rmdir()

    @staticmethod
    def _call(*words: str) -> None:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"{words[0]}: {done.stderr.strip()}")

    def freeze(self) -> None:
        """Let nothing be written any more."""
        self.is_frozen = True
        subprocess.run(["fsfreeze", "--freeze", str(self.folder)], check=True)

    def thaw(self) -> None:
        """Let it answer again."""
        subprocess.run(["fsfreeze", "--unfreeze", str(self.folder)], check=True)
        self.is_frozen = False


@pytest.fixture
def disk_at(tmp_path: Path) -> Iterator[Callable[[Path], FrozenDisk]]:
    """Mount a disk that can be frozen at a folder."""
    mounted: list[FrozenDisk] = []

    def mount(folder: Path) -> FrozenDisk:
        mounted.append(FrozenDisk(tmp_path / f"{len(mounted)}.ext4", folder))
        return mounted[-1]

    yield mount
    for disk in mounted:
        if disk.is_frozen:
            disk.thaw()
        subprocess.run(["umount", "-l", str(disk.folder)], check=True)


def codes() -> set[str]:
    return {trouble["code"] for trouble in Agent.objects.get().troubles}


class TestAgent:
    pytestmark = as_root

    def test_a_job_ends_at_its_limit_though_its_start_cannot_be_written_down(
        self, idle_agent: AgentProgram, node: Node, disk_at: Callable[[Path], FrozenDisk]
    ) -> None:
        disk = disk_at(idle_agent.folder / "spool")
        idle_agent.start()
        start = timezone.now() + timedelta(seconds=12)
        job = factories.job(node, "nap", "96.5", time_limit_s=3, start_at=start)
        wait_for(idle_agent.spooled)
        # Its file is there a moment before the disk has all that stands in it.
        time.sleep(3)
        disk.freeze()
        wait_for(lambda: processes_with("96.5"))
        wait_until_gone("96.5")
        # Told from memory, by an agent that was never silent.
        job = ended(job)
        assert job.timed_out
        assert (job.state, job.fault) == (Job.State.ENDED, "")
        assert (job.ended_at - job.started_at).total_seconds() < 30
        wait_for(lambda: "spool-hung" in codes(), 60)
        assert node.pk not in queries.ready_nodes(timezone.now())
        # One that was on its way all the same is handed back.
        assert ended(factories.job(node, "say")).fault == "node-trouble"
        disk.thaw()
        wait_for(lambda: not codes(), 60)
        wait_for(lambda: not idle_agent.spooled())
        assert ended(factories.job(node, "say")).exit_code == 3

    def test_a_job_that_is_stopped_while_the_spool_hangs_is(
        self, idle_agent: AgentProgram, node: Node, disk_at: Callable[[Path], FrozenDisk]
    ) -> None:
        disk = disk_at(idle_agent.folder / "spool")
        idle_agent.start()
        job = reached(factories.job(node, "nap", "97.5", time_limit_s=300), Job.State.RUNNING)
        disk.freeze()
        Job.objects.filter(pk=job.pk).update(stop_requested_at=timezone.now())
        wait_until_gone("97.5")
        assert ended(job).signal == 15

    def test_a_work_disk_that_hangs_is_told_and_its_jobs_are_handed_back(
        self, idle_agent: AgentProgram, node: Node, disk_at: Callable[[Path], FrozenDisk]
    ) -> None:
        disk = disk_at(idle_agent.folder / "work")
        idle_agent.start()
        wait_for(lambda: Agent.objects.get().instance_id)
        disk.freeze()
        job = ended(factories.job(node, "say"), 120)
        assert (job.fault, job.started_at) == ("node-trouble", None)
        wait_for(lambda: "work-hung" in codes(), 60)
        disk.thaw()
        wait_for(lambda: not codes(), 60)
        wait_for(lambda: not list((idle_agent.folder / "work").iterdir()))
        assert ended(factories.job(node, "say")).exit_code == 3


# In a process of its own, for one cannot leave off adopting orphans.
ORPHAN = """
import pathlib, sys
from workers.agent import identity, process
from workers.agent.sandbox import OFFSPRING

assert OFFSPRING.adopt()
words = ["sh", "-c", f"setsid sh -c 'echo x > {sys.argv[1]}/file' >/dev/null 2>&1 & sleep 0.5"]
job = process.Process(words, "/bin/sh", pathlib.Path(sys.argv[2]), identity.Identity.own(), 10_000)
job.attend(30, None)
print("begun", flush=True)
job.wait()
print("over", flush=True)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")
def test_a_job_is_not_over_while_an_orphan_of_it_waits_for_the_disk(
    disk_at: Callable[[Path], FrozenDisk], tmp_path: Path
) -> None:
    disk = disk_at(tmp_path / "disk")
    disk.freeze()
    argv = [sys.executable, "-c", ORPHAN, str(disk.folder), str(tmp_path)]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "begun\n"
        # Longer than a job's end waits for what takes its SIGKILL at once.
        time.sleep(4)
        assert program.poll() is None
        disk.thaw()
        assert program.stdout.read() == "over\n"


class Wait:
    """What a hung disk does: nothing, until it is let go."""

    def __init__(self) -> None:
        self.may_go_on, self.times = threading.Event(), 0

    def __call__(self) -> None:
        self.times += 1
        assert self.may_go_on.wait(60)


@pytest.fixture
def hung(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wait]:
    """What keeps a disk busy; a disk counts as hung at once."""
    monkeypatch.setattr(disks, "HUNG_AFTER_S", 0.05)
    wait = Wait()
    yield wait
    wait.may_go_on.set()


def test_what_a_disk_is_late_with_it_does_in_the_end_and_in_order(hung: Wait) -> None:
    disk, done = disks.Disk(), list[str]()
    disk.begin(hung)
    with pytest.raises(disks.Hung, match="does not answer"):
        disk.do(lambda: done.append("first"), 0.1)
    assert disk.is_hung()
    last = disk.begin(lambda: done.append("last"))
    assert done == []
    hung.may_go_on.set()
    last.result(30)
    assert done == ["first", "last"]
    wait_for(lambda: not disk.is_hung())


def test_what_is_done_again_and_again_does_not_pile_up_behind_a_hung_disk(hung: Wait) -> None:
    errand: disks.Errand[None] = disks.Errand(disks.Disk())
    for _time in range(3):
        with pytest.raises(disks.Hung):
            errand.do(hung, 0.01)
    assert hung.times == 1
    hung.may_go_on.set()
    errand.do(hung, 30)
    errand.do(hung, 30)
    assert hung.times == 2


def test_a_failure_of_a_disk_is_the_askers_and_over_with_it() -> None:
    errand: disks.Errand[None] = disks.Errand(disks.Disk())

    def fail() -> None:
        raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output"):
        errand.do(fail, 30)
    errand.do(lambda: None, 30)


def test_a_place_that_does_not_answer_is_hung_and_is_well_when_it_does(tmp_path: Path, hung: Wait) -> None:
    place = troubles.Place("spool", tmp_path, 1)
    assert place.trouble() is None
    place.disk.begin(hung)
    assert place.trouble() is not None
    assert place.trouble()[0] == "spool-hung"
    hung.may_go_on.set()
    wait_for(lambda: place.trouble() is None)


def test_a_record_of_a_hung_spool_is_in_memory_and_on_disk_once_it_answers(tmp_path: Path, hung: Wait) -> None:
    spool = Spool(tmp_path / "spool")
    record = spool.accept({"id": "a"})
    spool.disk.begin(hung)
    began = time.monotonic()
    spool.note(record, started_at=1.0)
    spool.note(record, ended_at=2.0)
    assert spool.sync(record)[0]["ended_at"] == 2.0
    assert time.monotonic() - began < 40
    assert "a" in spool
    hung.may_go_on.set()
    wait_for(lambda: "ended_at" in (tmp_path / "spool" / "a.jsonl").read_text())
    (found,) = Spool.open(tmp_path / "spool")
    assert found.facts["ended_at"] == 2.0


def test_a_job_that_a_hung_spool_does_not_take_leaves_no_record(tmp_path: Path, hung: Wait) -> None:
    spool = Spool(tmp_path / "spool")
    spool.disk.begin(hung)
    with pytest.raises(disks.Hung):
        spool.accept({"id": "a"})
    assert "a" not in spool
    hung.may_go_on.set()
    spool.disk.begin(lambda: None).result(30)
    assert list((tmp_path / "spool").iterdir()) == []


def test_a_limit_holds_while_nobody_waits_for_the_process(tmp_path: Path) -> None:
    words = ["sh", "-c", "echo ready; exec sleep 98.5"]
    one = process.Process(words, "/bin/sh", tmp_path, Identity.own(), 100)
    one.attend(0.2, compile_pattern("ready"))
    wait_until_gone("98.5")
    assert one.wait_until_ready() is not None
    one.wait()
    assert one.timed_out


def test_a_search_in_proc_that_is_held_up_does_not_hold_up_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hung: Wait
) -> None:
    monkeypatch.setattr(process, "KIN_WITHIN_S", 0.05)
    monkeypatch.setattr(process, "signal_kin", lambda *_words: hung())
    words = ["sh", "-c", "trap '' TERM; sleep 99.5 & wait; wait"]
    one = process.Process(words, "/bin/sh", tmp_path, Identity.own(), 100)
    one.attend(0.2, None)
    one.wait()
    assert one.timed_out
    assert one.end_signal == 9
    wait_until_gone("99.5")
