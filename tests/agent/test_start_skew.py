"""Commands with a common start begin together, on several local agents and within one."""

import os
import statistics
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Job
from apps.testbeds.models import Node
from tests import factories as people
from tests.agent.conftest import Crew
from tests.agent.program import AgentProgram
from tests.agent.states import ended, printed
from tests.agents import factories
from tests.agents.live import measured, wait_for
from workers import starting

pytestmark = pytest.mark.django_db(transaction=True)
# What is promised is a p99 of 50 ms; a test machine may have better things to do for a while.
GENEROUS_MEDIAN_S, GENEROUS_P99_S = 0.2, 2.0


def rounds(nodes: list[Node], count: int) -> list[float]:
    """Return the skews (s) of so many stages, each of one command on each of the nodes (which may repeat)."""
    skews = []
    for number in range(count):
        start = starting.common_start(nodes=[node.pk for node in nodes])
        specs = [
            services.JobSpec(
                node_id=node.pk,
                run_ref=100 + number,
                role="client",
                stage=0,
                argv=["say"],
                time_limit_s=10,
                start_at=start,
            )
            for node in nodes
        ]
        jobs = services.queue_jobs(specs=specs)
        done = Job.objects.filter(pk__in=[job.pk for job in jobs], state=Job.State.ENDED)
        wait_for(lambda done=done, jobs=jobs: done.count() == len(jobs), 60)
        starts = [job.started_at for job in done]
        skews.append((max(starts) - min(starts)).total_seconds())
    return skews


def p99(skews: list[float]) -> float:
    return statistics.quantiles(skews, n=100, method="inclusive")[98]


def are_small(skews: list[float]) -> bool:
    return statistics.median(skews) < GENEROUS_MEDIAN_S and p99(skews) < GENEROUS_P99_S


@pytest.mark.quiet
def test_agents_start_together(crew: Crew) -> None:
    nodes = crew(people.cast().team, 4)
    rounds(nodes, 1)
    skews = measured(lambda: rounds(nodes, 15), are_small)
    print(f"4 agents: median {1000 * statistics.median(skews):.1f} ms, p99 {1000 * p99(skews):.1f} ms")
    assert are_small(skews)


@pytest.mark.quiet
def test_an_agent_starts_many_commands_together(crew: Crew) -> None:
    (node,) = crew(people.cast().team, 1)
    rounds([node] * 8, 1)
    skews = measured(lambda: rounds([node] * 8, 8), are_small)
    print(f"8 commands of one agent: median {1000 * statistics.median(skews):.1f} ms, p99 {1000 * p99(skews):.1f} ms")
    assert are_small(skews)


def test_what_waits_for_its_instant_is_the_job_users_already(agent: AgentProgram, node: Node) -> None:
    start = timezone.now() + timedelta(seconds=0.5)
    job = ended(factories.job(node, "where", start_at=start))
    lines = printed(job)["stdout"].splitlines()
    assert job.started_at >= start
    if os.geteuid() == 0:
        assert lines[1:3] == ["65534", "65534"]
    assert lines[-1] == "made"
