"""What the agent program keeps through outages: the server's, its own, its child processes'."""

import json
import signal
import subprocess
import time

import pytest
from django.db import transaction
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Agent, Job
from apps.testbeds.models import Node
from tests import rewriting
from tests.agent import tools
from tests.agent.program import AgentProgram, processes_with, wait_until_gone
from tests.agent.states import ended, printed, reached
from tests.agents import factories
from tests.agents.live import LiveServer, wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_result_outlives_an_outage_of_the_server(agent: AgentProgram, node: Node, server: LiveServer) -> None:
    job = reached(factories.job(node, "nap", "1.51"), Job.State.RUNNING)
    server.stop(signal.SIGKILL)
    wait_until_gone("1.51")
    wait_for(lambda: agent.said("The server is away"))
    assert len(agent.spooled()) == 1
    server.start()
    job = ended(job)
    assert (job.exit_code, job.fault) == (0, "")
    assert 1.4 < (job.ended_at - job.started_at).total_seconds() < 2.5
    wait_for(lambda: not agent.spooled())
    wait_for(lambda: agent.said("The server is back"))


def test_a_result_outlives_the_agent_too(agent: AgentProgram, node: Node, server: LiveServer) -> None:
    job = reached(
        factories.job(node, "say", "kept", start_at=timezone.now() + timezone.timedelta(seconds=1.5)), "delivered"
    )
    wait_for(agent.spooled)
    server.stop(signal.SIGKILL)
    wait_for(lambda: "ended_at" in agent.spooled()[0].read_text())
    agent.stop(signal.SIGKILL)
    server.start()
    agent.start()
    job = ended(job)
    assert (job.exit_code, job.fault) == (3, "")
    assert printed(job)["stdout"] == "out: kept\n"
    wait_for(lambda: not agent.spooled())


def test_jobs_die_with_a_killed_agent_and_are_reported_by_its_successor(agent: AgentProgram, node: Node) -> None:
    job = reached(factories.job(node, "family", "71.5", time_limit_s=100), Job.State.RUNNING)
    wait_for(lambda: processes_with("71.5"))
    agent.stop(signal.SIGKILL)
    agent.start()
    job = ended(job)
    assert (job.fault, job.exit_code, job.signal) == ("agent-restarted", None, None)
    assert job.started_at is not None
    wait_until_gone("71.5")
    wait_for(lambda: not agent.spooled())


def test_a_program_with_capabilities_dies_with_a_killed_agent_at_the_latest_when_that_returns(
    agent: AgentProgram, node: Node
) -> None:
    job = reached(factories.job(node, "ping", "-n", "-c", "7251", "127.0.0.1", time_limit_s=9999), Job.State.RUNNING)
    wait_for(lambda: processes_with("7251"))
    agent.stop(signal.SIGKILL)
    agent.start()
    assert ended(job).fault == "agent-restarted"
    wait_until_gone("7251")


def test_what_a_killed_agent_left_behind_is_cleared_away(agent: AgentProgram, node: Node) -> None:
    # As if the kernel had not told the child, and the agent had died before it could note the child's number.
    job = reached(factories.job(node, "nap", "72.5", time_limit_s=100), Job.State.RUNNING)
    folder = agent.folder / "work" / str(job.pk)
    assert folder.is_dir()
    agent.stop(signal.SIGKILL)
    wait_until_gone("72.5")
    straggler = subprocess.Popen(["sleep", "72.5"], cwd=folder)
    (spooled,) = agent.spooled()
    spooled.write_bytes(b"".join(line for line in spooled.read_bytes().splitlines(True) if b"born" not in line))
    agent.start()
    assert ended(job).fault == "agent-restarted"
    assert straggler.wait(5) == -signal.SIGKILL
    assert not folder.exists()


def test_a_job_that_waits_for_its_instant_is_not_started_by_a_successor(agent: AgentProgram, node: Node) -> None:
    start = timezone.now() + timezone.timedelta(seconds=60)
    job = factories.job(node, "say", start_at=start)
    # A file without the job yet is as good as none: the server hands that job out again, to the successor.
    wait_for(lambda: any('"job"' in path.read_text() for path in agent.spooled()))
    agent.stop(signal.SIGKILL)
    agent.start()
    job = ended(job)
    assert (job.fault, job.started_at) == ("agent-restarted", None)


def test_a_stopped_agent_stops_its_jobs_and_says_so(agent: AgentProgram, node: Node) -> None:
    running = reached(factories.job(node, "family", "73.5", time_limit_s=100), Job.State.RUNNING)
    waiting = reached(
        factories.job(node, "say", start_at=timezone.now() + timezone.timedelta(minutes=1)), "delivered"
    )
    wait_for(lambda: len(agent.spooled()) == 2)
    assert agent.stop(signal.SIGTERM) == 0
    running, waiting = ended(running), ended(waiting)
    assert (running.fault, running.signal) == ("agent-restarted", 15)
    assert (waiting.fault, waiting.started_at) == ("agent-restarted", None)
    assert not agent.spooled()
    wait_until_gone("73.5")


def test_a_result_that_the_server_will_never_take_is_kept_aside(agent: AgentProgram, node: Node) -> None:
    job = reached(factories.job(node, "nap", "0.75"), Job.State.RUNNING)
    rewriting.delete(Job.objects.filter(pk=job.pk))
    refused = agent.folder / "refused" / f"{job.pk}.jsonl"
    wait_for(refused.exists)
    wait_for(lambda: agent.said("is kept in"))
    assert not agent.spooled()


def test_a_job_given_up_as_lost_is_stopped_and_stays_lost(agent: AgentProgram, node: Node) -> None:
    job = reached(factories.job(node, "nap", "74.5", time_limit_s=100), Job.State.RUNNING)
    with transaction.atomic():
        # Its job is lost with it; nobody sees it retired, or its token would not hold for a while.
        services.retire_agent(agent=node.agent, now=timezone.now())
        Agent.objects.update(retired_at=None)
    job.refresh_from_db()
    assert (job.state, job.fault) == (Job.State.LOST, "agent-lost")
    wait_until_gone("74.5")
    wait_for(lambda: not agent.spooled())
    job.refresh_from_db()
    assert (job.state, job.fault) == (Job.State.LOST, "agent-lost")


def test_a_retired_agent_waits_and_takes_up_work_when_it_is_enrolled_again(agent: AgentProgram, node: Node) -> None:
    wait_for(lambda: Agent.objects.filter(last_seen_at__isnull=False).first())
    services.retire_agent(agent=node.agent, now=timezone.now())
    wait_for(lambda: agent.said("refuses this agent: This agent was retired"))
    job = factories.job(node, "say")
    agent.enrol(node)
    assert ended(job, 30).exit_code == 3
    assert "say" in json.loads((agent.folder / "agent.json").read_text())["programs"]


def test_a_lost_delivery_is_made_good(idle_agent: AgentProgram, node: Node) -> None:
    job = factories.job(node, "say")
    # As if the answer to a poll had been lost on the way.
    Job.objects.filter(pk=job.pk).update(state=Job.State.DELIVERED, delivered_at=timezone.now())
    idle_agent.start()
    assert ended(job).exit_code == 3


def test_a_job_the_agent_knows_nothing_of_is_lost_at_once(idle_agent: AgentProgram, node: Node) -> None:
    job = factories.job(node, "say", state=Job.State.RUNNING)
    idle_agent.start()
    job = ended(job)
    assert (job.state, job.fault) == (Job.State.LOST, "outcome-gone")


def test_many_jobs_are_each_carried_out_once_while_agent_and_server_are_killed(
    idle_agent: AgentProgram, node: Node, server: LiveServer
) -> None:
    agent = idle_agent
    tally = agent.home / "tally"
    tally.mkdir(mode=0o777)
    tally.chmod(0o777)
    tools.configure(agent.folder, paths=[str(tally)])
    agent.start()
    script = agent.home / "tools" / "say"
    script.write_text(f"#!/bin/sh\necho run >> {tally}/$1\nsleep 0.05\n")
    jobs = [factories.job(node, "say", str(number)) for number in range(30)]
    for turn in range(2):
        time.sleep(0.3)
        if turn:
            server.stop(signal.SIGKILL)
            server.start()
        else:
            agent.stop(signal.SIGKILL)
            agent.start()
    done = [ended(job, 30) for job in jobs]
    for number, job in enumerate(done):
        path = tally / str(number)
        times = len(path.read_text().splitlines()) if path.exists() else 0
        assert times <= 1, "a job ran twice"
        if not job.fault:
            assert (times, job.exit_code) == (1, 0)
        else:
            assert job.fault == "agent-restarted"
    assert any(not job.fault for job in done)
