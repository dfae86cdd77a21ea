"""An agent is not lost because somebody holds its row, and what it is heard by cannot be written."""

from datetime import timedelta

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from apps.agents import obstacles, queries, services
from apps.agents.models import Agent, AgentState, Job, LateHeartbeat, Listener
from apps.agents.services import Heartbeat
from apps.testbeds.models import Node
from tests.agents import factories

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_job_is_not_lost_while_its_agents_row_is_held_nor_right_after() -> None:
    agent, other = factories.agent()[0], factories.agent()[0]
    jobs = [factories.job(each.node, state=Job.State.RUNNING, delivered_at=timezone.now()) for each in (agent, other)]
    long_ago, now = timezone.now() - timedelta(minutes=1), timezone.now()
    Agent.objects.update(last_seen_at=long_ago)
    factories.listening()
    with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}) as holder:
        holder.execute("SELECT 1 FROM agents_agent WHERE id = %s FOR UPDATE", [agent.pk])
        assert services.record_heartbeats(heartbeats=[Heartbeat(agent.pk, now)], now=now) == {agent.pk}
        assert services.mark_lost_jobs(now=now) == 1
        for state, node in ((AgentState.BUSY, agent.node), (AgentState.LOST, other.node)):
            assert [row.state for row in queries.node_agents([node], now)] == [state]
            assert list(queries.nodes_in_state(Node.objects.filter(pk=node.pk), state, now)) == [node]
            assert list(queries.in_state(queries.with_busy(Agent.objects.all()), state, now)) == [node.agent]
        assert queries.heard_nodes(now) == {agent.node_id}
        assert obstacles.obstacles_of(nodes=[agent.node_id, other.node_id], now=now).keys() == {other.node_id}
        assert [services.instances.is_silent(each, now) for each in Agent.objects.order_by("pk")] == [False, True]
        holder.rollback()
        assert services.mark_lost_jobs(now=now) == 0
    for job in jobs:
        job.refresh_from_db()
    assert [job.state for job in jobs] == [Job.State.RUNNING, Job.State.LOST]
    assert services.record_heartbeats(heartbeats=[Heartbeat(agent.pk, now)], now=now) == set()
    assert not LateHeartbeat.objects.exists()
    assert services.mark_lost_jobs(now=now) == 0
    later = now + timedelta(minutes=1)
    services.record_heartbeats(heartbeats=[], now=now + timedelta(seconds=1))
    Listener.objects.update(heard_until=later)
    assert services.mark_lost_jobs(now=later) == 1
