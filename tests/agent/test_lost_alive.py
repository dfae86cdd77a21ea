"""An agent that is lost while its tool lives: what the tool uses is kept back until the agent says that it ended."""

import signal
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.agents import queries, services
from apps.agents.models import Agent, Job, Listener
from apps.testbeds.models import Node
from tests.agent.program import AgentProgram, processes_with, wait_until_gone
from tests.agent.states import reached
from tests.agents import factories
from tests.agents.live import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def lose(agent: AgentProgram) -> None:
    """Have the agent fall silent, as one does whose network is gone, and its jobs given up."""
    assert agent.process is not None
    agent.process.send_signal(signal.SIGSTOP)

    def is_lost() -> bool:
        now = timezone.now()
        # Silence counts only once somebody has listened for 30 s, which the server notes when it begins.
        Listener.objects.update(listening_since=now - timedelta(seconds=31))
        Agent.objects.update(last_seen_at=now - timedelta(seconds=31))
        return services.mark_lost_jobs(now=now) == 1

    wait_for(is_lost, 90)


def test_its_tool_is_a_possible_leftover_until_it_comes_back(agent: AgentProgram, node: Node) -> None:
    job = reached(factories.job(node, "nap", "91.5", time_limit_s=300), Job.State.RUNNING)
    lose(agent)
    assert processes_with("91.5"), "the tool is alive"
    (until,) = queries.leftovers_of([job.run_ref], timezone.now()).values()
    job.refresh_from_db()
    assert until == job.may_run_until
    assert job.started_at + timedelta(seconds=300) <= until <= job.started_at + timedelta(seconds=310)
    assert agent.process is not None
    agent.process.send_signal(signal.SIGCONT)
    wait_until_gone("91.5")
    wait_for(lambda: not queries.leftovers_of([job.run_ref], timezone.now()))
    job.refresh_from_db()
    assert (job.state, job.fault) == (Job.State.LOST, "agent-lost")


def test_its_tool_is_none_when_it_is_started_again(agent: AgentProgram, node: Node) -> None:
    job = reached(factories.job(node, "nap", "92.5", time_limit_s=300), Job.State.RUNNING)
    lose(agent)
    assert queries.leftovers_of([job.run_ref], timezone.now())
    agent.stop(signal.SIGKILL)
    agent.start()
    wait_for(lambda: not queries.leftovers_of([job.run_ref], timezone.now()))
    assert not processes_with("92.5")
