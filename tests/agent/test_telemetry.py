"""The agent reads the kernel around each job: a real agent, real programs, real counters."""

import json
import zlib
from typing import Any

import pytest
from django.utils import timezone

from apps.agents import services
from apps.agents.models import Job
from apps.bench import telemetry
from apps.testbeds.models import Node, NodeAddress
from tests.agent.program import AgentProgram
from tests.agent.states import ended, reached
from tests.agents import factories
from tests.ports import free_port

pytestmark = pytest.mark.django_db(transaction=True)


def sent(job: Job) -> dict[str, Any]:
    return json.loads(zlib.decompress(job.output.telemetry_z))


def test_a_real_transfer_is_seen_in_counters_and_sockets(agent: AgentProgram, node: Node) -> None:
    NodeAddress.objects.create(node=node, address="127.0.0.1")
    port = str(free_port())
    server = factories.job(
        node, "iperf3", "-s", "-1", "-p", port, "--forceflush", background=True, ready_pattern="listening", run_ref=41
    )
    reached(server, Job.State.READY)
    client = ended(factories.job(node, "iperf3", "-c", "127.0.0.1", "-p", port, "-t", "3", "-w", "32K", run_ref=41))
    assert client.exit_code == 0
    seen = telemetry.read(sent(client))
    assert seen is not None
    assert seen.interface == "lo"
    assert seen.times[0] <= 0 < seen.ended <= seen.times[-1]
    transport = telemetry.transport_of([seen.listings])
    assert transport is not None
    assert transport.connections == 1
    assert transport.receiver_window_limited is not None
    # All of it went over the interface, with its headers.
    assert seen.nic["tx_bytes"][-1] > transport.bytes_sent > 10**7
    assert 3 <= len(seen.times) <= 7
    server = ended(server)
    other = telemetry.read(sent(server))
    assert other is not None
    assert telemetry.transport_of([other.listings]) is None
    assert other.listings[-1].sockets


def test_a_short_job_is_seen_before_and_after(agent: AgentProgram, node: Node) -> None:
    seen = telemetry.read(sent(ended(factories.job(node, "say", "hello"))))
    assert seen is not None
    assert len(seen.times) == 2
    assert seen.processors > 0
    assert (seen.interface, seen.nic, seen.listings) == ("", {}, ())
    assert {figure.name for figure in telemetry.summarise(seen)} >= {"memory", "retransmits"}


def test_a_job_that_failed_or_was_stopped_is_seen_too(agent: AgentProgram, node: Node) -> None:
    assert telemetry.read(sent(ended(factories.job(node, "nap", "81.5", time_limit_s=0.3))))
    job = reached(factories.job(node, "nap", "82.5", run_ref=42), Job.State.RUNNING)
    services.request_stop(run_ref=42, now=timezone.now())
    assert telemetry.read(sent(ended(job)))


def test_a_node_may_do_without(idle_agent: AgentProgram, node: Node) -> None:
    path = idle_agent.folder / "agent.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "telemetry": False}))
    idle_agent.start()
    assert bytes(ended(factories.job(node, "say")).output.telemetry_z) == b""
