"""A cancelled campaign's traffic ends within two seconds of the button: real agents, real programs."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.utils import timezone

from apps.agents import services as agents
from apps.agents.models import Job
from apps.campaigns import services
from apps.campaigns.models import Run
from apps.testbeds.models import Node
from tests import factories as people
from tests.agent.conftest import Crew
from tests.agent.program import AgentProgram, processes_with, wait_until_gone
from tests.agent.states import ended, printed, reached
from tests.agents import factories
from tests.agents.live import wait_for
from tests.campaigns import factories as make
from tests.ports import free_port
from workers import carry_out

pytestmark = pytest.mark.django_db(transaction=True)
# Two seconds on a machine that has time; these share theirs, and what is not stopped would go on for a minute.
WITHIN_S = 10.0


def loopback_bytes() -> int:
    line = next(line for line in Path("/proc/net/dev").read_text().splitlines() if "lo:" in line)
    return int(line.partition(":")[2].split()[0])


def test_a_campaigns_stop_ends_real_traffic(crew: Crew) -> None:
    cast = people.cast()
    nodes = crew(cast.team, 2)
    port = str(free_port())
    campaign = make.launched(
        SimpleNamespace(team=cast.team, oscar=cast.oscar), *nodes, fixed={"duration": "60 s", "port": port}
    )
    carry_out.schedule()
    run = Run.objects.get()
    wait_for(lambda: carry_out.advance(run.pk) or Job.objects.filter(role="client").first(), 30)
    reached(Job.objects.get(role="client"), Job.State.RUNNING)
    before = loopback_bytes()
    wait_for(lambda: loopback_bytes() - before > 50e6, 30)
    pressed = time.monotonic()
    services.cancel_campaign(campaign=campaign, user=cast.oscar, now=timezone.now())
    wait_for(lambda: not processes_with(port), 30, every_s=0.01)
    took = time.monotonic() - pressed
    print(f"traffic ended {took:.3f} s after the button was pressed")
    assert took < WITHIN_S
    wait_for(lambda: carry_out.advance(run.pk), 30)
    run.refresh_from_db()
    assert run.state == "cancelled"


def test_a_program_that_ignores_sigterm_is_ended_in_time(agent: AgentProgram, node: Node) -> None:
    job = reached(factories.job(node, "stubborn", "77.25", run_ref=31), Job.State.RUNNING)
    wait_for(lambda: processes_with("77.25"))
    pressed = time.monotonic()
    agents.request_stop(run_ref=31, now=timezone.now())
    wait_for(lambda: not processes_with("77.25"), 30, every_s=0.01)
    took = time.monotonic() - pressed
    print(f"it ended {took:.3f} s after it was to stop")
    assert 0.9 < took < WITHIN_S
    job = ended(job)
    assert (job.signal, job.timed_out) == (9, False)
    assert printed(job) == {"stdout": "deaf\n"}


def test_what_left_the_process_group_is_ended_too(agent: AgentProgram, node: Node) -> None:
    job = reached(factories.job(node, "scatter", "75.25", run_ref=32), Job.State.RUNNING)
    wait_for(lambda: len(processes_with("75.25")) == 4)
    agents.request_stop(run_ref=32, now=timezone.now())
    ended(job)
    wait_until_gone("75.25")


def test_a_stop_within_the_grace_of_a_time_limit_is_heeded(agent: AgentProgram, node: Node) -> None:
    job = factories.job(node, "stubborn", "76.25", run_ref=33, time_limit_s=0.3)
    reached(job, Job.State.RUNNING)
    agents.request_stop(run_ref=33, now=timezone.now())
    assert ended(job).signal == 9
    wait_until_gone("76.25")
