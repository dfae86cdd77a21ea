"""Simulated agents against the real endpoint."""

import asyncio
import os
import zlib
from typing import Any

import pytest

from apps.agents.models import Job
from benchmarks import crowd, simulated_agents, throughput
from benchmarks.simulated_agents import Connection, Refused, SimulatedAgent
from tests import factories as accounts
from tests.agents import factories
from tests.agents.live import LiveServer

PRINTED = simulated_agents.RECORDING.read_bytes()


def test_a_simulated_agent_carries_out_a_job_at_once(server: LiveServer) -> None:
    made, token = factories.agent()
    queued = factories.job(made.node, run_ref=None)

    async def work() -> list[str]:
        agent = SimulatedAgent(server.url, token, PRINTED)
        found = await agent.poll_once()
        await agent.finish()
        agent.close()
        return found

    assert asyncio.run(work()) == [str(queued.pk)]
    job = Job.objects.select_related("output").get(pk=queued.pk)
    assert (job.state, job.exit_code) == (Job.State.ENDED, 0)
    assert job.started_at <= job.ended_at
    assert zlib.decompress(job.output.stdout_z) == PRINTED


def test_an_agent_that_the_server_does_not_know_is_refused(server: LiveServer) -> None:
    with pytest.raises(Refused, match="401"):
        asyncio.run(SimulatedAgent(server.url, "fth_agent_none", PRINTED).poll_once())


async def test_a_connection_that_was_closed_while_idle_is_opened_again() -> None:
    calls = []

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"jobs":[]}')
        writer.close()

    async with await asyncio.start_server(answer_once, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        connection = Connection(f"http://127.0.0.1:{port}", "secret")
        for _turn in range(2):
            assert await connection.post("poll", {}) == {"jobs": []}
        connection.close()
    assert len(calls) == 2
    assert b"Authorization: Bearer secret" in calls[1]


async def test_a_server_that_is_away_is_told() -> None:
    with pytest.raises(ConnectionError):
        await Connection("http://127.0.0.1:9", "secret").post("poll", {})


@pytest.mark.django_db
def test_a_crowd_is_described_with_a_campaign_for_its_pairs() -> None:
    cast: Any = accounts.cast()
    nodes, tokens = crowd.describe(cast.team, 4)
    assert len({*tokens}) == 4
    assert [node.addresses.get().address for node in nodes] == ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]
    campaign = crowd.plan(cast.team, cast.oscar, nodes, 3)
    campaign_roles = nodes[0].experiment_roles.get(experiment__campaign=campaign)
    assert campaign_roles.role == "client"
    assert campaign_roles.experiment.repetitions == 3


def test_the_memory_of_a_process_is_counted_in_bytes() -> None:
    assert 10e6 < throughput.resident_bytes(os.getpid()) < 10e9
