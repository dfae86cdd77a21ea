"""Commands with a common start begin together, on several local agents and within one."""

import os
import statistics
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Job
from apps.testbeds.models import Node
from tests import factories as people
from tests.agent.conftest import Crew
from tests.agent.program import AgentProgram
from tests.agent.states import ended, printed
from tests.agent.waiters import EXCUSED, Waiters, waiting
from tests.agents import factories
from tests.agents.live import measured, wait_for
from workers import common_start

pytestmark = pytest.mark.django_db(transaction=True)
# What is promised is a p99 of 50 ms, on a machine that has nothing better to do; so much (s) is excused beside the
# skew of bare processes with the same instants.
MEDIAN_S, P99_S = 0.1, 2.0


@dataclass(frozen=True)
class Skews:
    """The skews (s) of some stages, and those of as many bare processes at the same instants."""

    agents: list[float]
    bare: list[float]

    def are_small(self) -> bool:
        """Say whether those of the agents are."""
        return (
            statistics.median(self.agents) < MEDIAN_S + EXCUSED * statistics.median(self.bare)
            and p99(self.agents) < P99_S + EXCUSED * p99(self.bare)
        )  # fmt: skip

    def __str__(self) -> str:
        kinds = {"agents": self.agents, "bare processes": self.bare}
        return "; ".join(
            f"{name}: median {1000 * statistics.median(skews):.1f} ms, p99 {1000 * p99(skews):.1f} ms"
            for name, skews in kinds.items()
        )


def p99(skews: list[float]) -> float:
    return statistics.quantiles(skews, n=100, method="inclusive")[98]


def rounds(nodes: list[Node], count: int, waiters: Waiters) -> Skews:
    """Carry out so many stages, each of one command on each of the nodes (which may repeat)."""
    skews = Skews([], [])
    for number in range(count):
        start = common_start.common_start(nodes=[node.pk for node in nodes])
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
        waiters.begin(start, len(nodes))
        done = Job.objects.filter(pk__in=[job.pk for job in jobs], state=Job.State.ENDED)
        wait_for(lambda done=done, jobs=jobs: done.count() == len(jobs), 60)
        starts = [job.started_at for job in done]
        skews.agents.append((max(starts) - min(starts)).total_seconds())
        late = waiters.late()
        skews.bare.append(max(late) - min(late))
    return skews


@pytest.mark.quiet
@pytest.mark.parametrize(("agents", "commands", "count", "lead_s"), [(4, 1, 10, 0.2), (1, 8, 5, 1.2)])
def test_commands_start_together(
    crew: Crew, settings: Any, agents: int, commands: int, count: int, lead_s: float
) -> None:
    # On a busy disk one agent takes long to note eight commands; those that are late are so one after the other.
    settings.START_LEAD_S = lead_s
    nodes = crew(people.cast().team, agents) * commands
    with waiting() as waiters:
        rounds(nodes, 1, waiters)
        skews = measured(lambda: rounds(nodes, count, waiters), Skews.are_small)
    print(skews)
    assert skews.are_small(), str(skews)


def test_what_waits_for_its_instant_is_the_job_users_already(agent: AgentProgram, node: Node) -> None:
    start = timezone.now() + timedelta(seconds=0.5)
    job = ended(factories.job(node, "where", start_at=start))
    lines = printed(job)["stdout"].splitlines()
    assert job.started_at >= start
    if os.geteuid() == 0:
        assert lines[1:3] == ["65534", "65534"]
    assert lines[-1] == "made"


def test_a_start_that_a_clock_planned_which_was_set_since_is_waited_for_by_nobody(
    agent: AgentProgram, node: Node
) -> None:
    job = ended(factories.job(node, "say", start_at=timezone.now() + timedelta(hours=2)))
    assert (job.fault, job.started_at) == ("server-clock-set", None)
    assert "s ahead" in job.fault_detail
