"""Two real agent processes with copies of one folder: each job runs once, and everybody is told."""

import itertools
import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from apps.agents import queries, services
from apps.agents.models import LOST_AFTER, Agent, AgentInstance, Job
from apps.testbeds.models import Node
from tests.agent import tools
from tests.agent.program import AgentProgram, wait_until_gone
from tests.agent.states import ended, reached
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for

pytestmark = pytest.mark.django_db(transaction=True)

Twin = Callable[[], AgentProgram]


@pytest.fixture
def tally(home: Path) -> Path:
    """A file, outside of the product, into which the tool of the tests writes each time it runs."""
    path = home / "tally"
    path.touch()
    path.chmod(0o666)
    return path


@pytest.fixture
def original(idle_agent: AgentProgram, home: Path, tally: Path) -> AgentProgram:
    tool = home / "tools" / "count"
    tool.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exit\necho "$1" >> {tally}\nexec sleep "${{2:-0}}"\n')
    tool.chmod(0o755)
    tools.allow(idle_agent.folder, {"count": str(tool)})
    tools.configure(idle_agent.folder, paths=[str(tally)])
    return idle_agent


@pytest.fixture
def twin(original: AgentProgram, home: Path, server: LiveServer) -> Iterator[Twin]:
    """Return copies of the original's folder as it is now, each as on a machine of its own."""
    copies: list[AgentProgram] = []

    def copy() -> AgentProgram:
        place = home / f"copy{len(copies)}"
        place.mkdir()
        place.chmod(0o755)
        program = AgentProgram(place, server)
        shutil.copytree(original.folder, program.folder, symlinks=True)
        program.folder.chmod(0o711)
        copies.append(program)
        return program

    yield copy
    for program in copies:
        if program.process is not None:
            program.stop()
        if program.log.exists():
            print(program.log.read_text())


def is_heard() -> bool:
    return Agent.objects.filter(last_seen_at__isnull=False, instance__isnull=False).exists()


def test_each_job_runs_once_with_two_of_one_identity(
    original: AgentProgram, twin: Twin, node: Node, tally: Path
) -> None:
    copy = twin()
    original.start()
    wait_for(is_heard)
    at_work = Agent.objects.get().instance_id
    copy.start()
    wait_for(lambda: copy.log.exists() and copy.said("Another process with this agent's identity works for"))
    jobs = [factories.job(node, "count", f"job-{number}") for number in range(8)]
    for job in jobs:
        assert ended(job).exit_code == 0
    assert sorted(tally.read_text().split()) == sorted(f"job-{number}" for number in range(8))
    assert Agent.objects.get().instance_id == at_work
    (rival,) = queries.rivals_of([node.pk], timezone.now())[node.pk]
    assert rival.host
    status = copy.call("status", "--dir", str(copy.folder))
    assert status.returncode == 3
    assert "Another process with this agent's identity" in status.stdout
    assert not original.said("Another process")


def test_a_manager_says_which_is_right_and_the_other_stops(
    original: AgentProgram, twin: Twin, node: Node, tally: Path
) -> None:
    copy = twin()
    original.start()
    wait_for(is_heard)
    copy.start()
    rivals = wait_for(lambda: queries.rivals_of([node.pk], timezone.now()).get(node.pk))
    lost = reached(factories.job(node, "count", "first", "81.5", time_limit_s=200), Job.State.RUNNING)
    services.choose_instance(agent=node.agent, key=rivals[0].key, now=timezone.now())
    wait_for(lambda: original.said("Another process with this agent's identity"))
    wait_until_gone("81.5")
    assert ended(factories.job(node, "count", "second"), 90).exit_code == 0
    lost.refresh_from_db()
    assert (lost.state, lost.fault) == (Job.State.LOST, "agent-lost")
    # The first one, whose job it was, told its end: nothing of it runs any more.
    wait_for(lambda: not queries.leftover_jobs(node.pk, timezone.now()).exists())
    assert tally.read_text().split() == ["first", "second"]


def test_what_a_restored_backup_has_on_its_spool_changes_nothing(
    original: AgentProgram, twin: Twin, node: Node, tally: Path
) -> None:
    original.start()
    job = reached(factories.job(node, "count", "once", "4", time_limit_s=60), Job.State.RUNNING)
    copy = twin()
    assert len(copy.spooled()) == 1, "the copy thinks that it has the job, too"
    copy.start()
    wait_for(lambda: copy.log.exists() and copy.said("Another process with this agent's identity works for"))
    job = ended(job)
    assert (job.exit_code, job.fault) == (0, "")
    assert tally.read_text().split() == ["once"]
    # Once the right one has ended, the copy may work; what it has to say of that job is kept, and does not count.
    assert original.stop() == 0
    refused = copy.folder / "refused" / f"{job.pk}.jsonl"
    wait_for(refused.exists, 120)
    assert json.loads(refused.read_text().strip().splitlines()[0])["job"]["id"] == str(job.pk)
    job.refresh_from_db()
    assert (job.exit_code, job.fault) == (0, "")
    assert Agent.objects.get().instance.refused_reports >= 1


def test_a_killed_one_is_followed_at_once_in_its_folder(original: AgentProgram, node: Node, tally: Path) -> None:
    original.start()
    wait_for(is_heard)
    first = Agent.objects.get().instance_id
    original.stop(signal.SIGKILL)
    original.start()
    # It need not wait until the first one's silence is long enough.
    started = [Job.State.RUNNING, Job.State.ENDED]
    job = factories.job(node, "count", "after")
    wait_for(Job.objects.filter(pk=job.pk, state__in=started).exists, 25)
    assert ended(job).exit_code == 0
    assert Agent.objects.get().instance_id != first
    assert not original.said("Another process")


def test_a_refused_one_comes_again_when_the_server_said_however_long_its_own_pauses_are(
    original: AgentProgram, twin: Twin, node: Node
) -> None:
    original.start()
    wait_for(lambda: Agent.objects.get(node=node).instance, 30)
    other = twin()
    other.start()
    wait_for(lambda: other.said("The server refuses this agent"), 30)
    original.stop(signal.SIGKILL)
    began, came = time.monotonic(), []
    # By then its own pauses would be of 13 s and more.
    while time.monotonic() < began + 40:
        # The one at work was heard so long ago that it will be silent for long enough in 6 s: so it stays.
        heard_at = timezone.now() - LOST_AFTER + timedelta(seconds=6)
        Agent.objects.filter(node=node).update(last_seen_at=heard_at)
        refused_at = AgentInstance.objects.get(refused_at__isnull=False).refused_last_at
        if refused_at not in [at for at, _seen_at in came]:
            came.append((refused_at, time.monotonic()))
        time.sleep(0.2)
    seen = [seen_at for _at, seen_at in came] + [time.monotonic()]
    assert max(later - earlier for earlier, later in itertools.pairwise(seen)) < 12
