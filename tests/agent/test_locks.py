"""The lock of the agent's folder removed: neither the one that works there nor its jobs suffer from a second one."""

from pathlib import Path

import pytest

from apps.agents.models import Agent, Job
from apps.testbeds.models import Node
from tests.agent.program import AgentProgram, processes_with
from tests.agent.states import ended, reached
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for
from workers.agent.disks import Disk
from workers.agent.instance import Instance
from workers.agent.keeper import Keeper
from workers.agent.lock import Lock

live = pytest.mark.django_db(transaction=True)


def lock_of(folder: Path) -> Lock:
    lock = Lock.take(folder)
    assert lock is not None
    return lock


@pytest.fixture
def second(idle_agent: AgentProgram, home: Path, server: LiveServer) -> AgentProgram:
    """A second process of the same program in the same folder, not started."""
    place = home / "second"
    place.mkdir()
    program = AgentProgram(place, server)
    program.folder = idle_agent.folder
    yield program
    if program.process is not None:
        program.stop()
    if program.log.exists():
        print(program.log.read_text())


@live
def test_a_second_agent_touches_nothing_of_the_first_ones(
    agent: AgentProgram, node: Node, second: AgentProgram
) -> None:
    job = reached(factories.job(node, "nap", "93.5", time_limit_s=300), Job.State.RUNNING)
    # A file that was begun is the work of the first one, too, and no leftover.
    begun = agent.folder / "spool" / "0b9d3c4e-0000-4000-8000-000000000001.jsonl"
    begun.touch()
    for _time in range(2):
        (agent.folder / "lock").unlink()
        second.start()
        wait_for(lambda: second.log.exists() and second.said("Another process with this agent's identity works for"))
        assert second.said("its lock was removed: nothing in it is touched")
        assert processes_with("93.5"), "the tool of the first one"
        # Nor does its start make the folder its own: a second start is no other.
        second.stop()
        second.log.unlink()
    assert begun.exists()
    assert (agent.folder / "work" / str(job.pk)).is_dir()
    job.refresh_from_db()
    assert (job.state, job.fault) == (Job.State.RUNNING, "")


@live
def test_the_first_one_makes_its_lock_anew_and_works_on(
    agent: AgentProgram, node: Node, second: AgentProgram
) -> None:
    job = reached(factories.job(node, "nap", "8", time_limit_s=60), Job.State.RUNNING)
    known = Agent.objects.get().instance.folder
    (agent.folder / "lock").unlink()
    # It looks before each poll, and one that brings a job is over at once.
    assert ended(factories.job(node, "say")).exit_code == 3
    wait_for(lambda: agent.said("was removed while this agent works: it is made anew"), 60)
    second.start()
    assert second.process is not None
    assert second.process.wait(30) == 1
    assert second.said(f"The agent of {node.name} already runs in")
    assert (ended(job).exit_code, job.fault) == (0, "")
    wait_for(lambda: Agent.objects.get().instance.folder != known)
    # The one that follows it takes over at once: it holds the lock that the server knows.
    first = Agent.objects.get().instance_id
    agent.stop()
    agent.start()
    assert ended(factories.job(node, "say")).exit_code == 3
    assert Agent.objects.get().instance_id != first
    assert not agent.said("is a copy, or its lock was removed")


@live
def test_a_lock_that_a_second_one_holds_is_told_and_taken_back(
    agent: AgentProgram, node: Node, second: AgentProgram
) -> None:
    wait_for(lambda: Agent.objects.get().instance_id)
    (agent.folder / "lock").unlink()
    second.start()
    wait_for(lambda: second.log.exists() and second.said("Another process with this agent's identity works for"))
    # The first one looks before each poll, and one that brings a job is over at once.
    assert ended(factories.job(node, "say")).exit_code == 3
    wait_for(lambda: [trouble["code"] for trouble in Agent.objects.get().troubles] == ["lock-lost"], 60)
    assert Agent.objects.get().set_aside_at is None
    assert ended(factories.job(node, "say")).exit_code == 3
    second.stop()
    wait_for(lambda: not Agent.objects.get().troubles, 60)
    assert agent.said("it is made anew")


def test_a_lock_is_held_by_one_and_is_in_place_until_it_is_removed(tmp_path: Path) -> None:
    lock = lock_of(tmp_path)
    assert lock.is_in_place()
    assert Lock.take(tmp_path) is None
    lock.path.unlink()
    assert not lock.is_in_place()
    other = lock_of(tmp_path)
    assert not lock.is_in_place()
    assert not lock.renew()
    other.close()
    assert lock.renew()
    assert lock.is_in_place()
    assert Lock.take(tmp_path) is None
    lock.close()


def test_a_process_is_alone_only_where_the_last_one_held_the_same_file(tmp_path: Path) -> None:
    lock = lock_of(tmp_path)
    first = Instance(tmp_path, lock)
    assert (first.is_alone, first.is_in_a_copy) == (False, False)
    first.mark_place()
    follower = Instance(tmp_path, lock)
    assert (follower.is_alone, follower.is_in_a_copy) == (True, False)
    lock.path.unlink()
    other = Instance(tmp_path, lock_of(tmp_path))
    assert (other.is_alone, other.is_in_a_copy) == (False, True)
    # What it is not let in for leaves no mark.
    assert not Instance(tmp_path, lock_of(tmp_path) if lock.renew() else None).is_alone


def test_who_looks_after_a_lock_says_once_that_it_is_anothers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lock = lock_of(tmp_path)
    keeper = Keeper(lock, Disk())
    assert (keeper.look(), keeper.trouble()) == (False, None)
    lock.path.unlink()
    other = lock_of(tmp_path)
    for _time in range(2):
        assert not keeper.look()
    assert caplog.text.count("another process holds a new one") == 1
    assert keeper.trouble() == ("lock-lost", f"another process holds {lock.path}")
    other.close()
    assert keeper.look()
    assert keeper.trouble() is None
    assert not keeper.look()
