"""One session of the database that hangs keeps the endpoint from no agent, and loses nothing of what it heard."""

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.utils import timezone

from apps.agents import services
from apps.agents.endpoint import database, hub
from apps.agents.models import Agent, Listener
from apps.agents.services import Heartbeat, Unsent
from apps.core import starvation
from tests.agents import factories
from tests.agents.live import wait_for
from tests.hung_sessions import hung

pytestmark = pytest.mark.django_db(transaction=True)


def _pid() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def _close() -> None:
    """Close the connection of this thread, whichever that is."""
    connection.close()


def test_heartbeats_go_on_beside_a_session_that_hangs_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "TURN_WITHIN_S", 0.5)
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", None)
    agents = [factories.agent()[0] for _ in range(2)]

    monkeypatch.setattr(database, "_THREADS", ThreadPoolExecutor(1))

    async def hear() -> None:
        pid = await database.run(_pid)
        ear = hub.Hub()
        ear.hear(agents[0].pk, 3.0, 0.1)
        with hung(pid):
            turns = asyncio.create_task(hub._every(0.1, ear._write_heartbeats))
            await asyncio.sleep(0.2)
            ear.hear(agents[0].pk)
            ear.hear(agents[1].pk)
            await asyncio.sleep(2)
            turns.cancel()
            await asyncio.gather(turns, return_exceptions=True)
        assert not ear._heard
        await database.run(_close)

    asyncio.run(hear())
    assert {agent.clock_offset_s for agent in Agent.objects.all() if agent.last_seen_at} == {3.0, None}
    assert Listener.objects.exists() and starvation.heard.since(longer_than_s=5) is None


def test_what_is_not_written_is_kept_beside_what_was_heard_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    now, ear = timezone.now(), hub.Hub()
    first = {1: Heartbeat(1, now, 2.0, 0.5, Unsent(now)), 2: Heartbeat(2, now)}
    ear._heard = dict(first)

    async def fail(*_given: object, **_named: object) -> None:
        ear.hear(1)
        raise database.Unavailable

    monkeypatch.setattr(database, "run", fail)
    with pytest.raises(database.Unavailable):
        asyncio.run(ear._write_heartbeats())
    heartbeat = ear._heard[1]
    assert heartbeat.at > now and (heartbeat.offset_s, heartbeat.error_s, heartbeat.unsent) == (2.0, 0.5, Unsent(now))
    assert ear._heard[2] == first[2]


def test_an_agent_whose_row_another_holds_keeps_no_other_from_being_heard() -> None:
    (held, _token), (free, _other) = factories.agent(), factories.agent()
    now, other = timezone.now(), connection.copy()
    beats = [Heartbeat(pk, now) for pk in (held.pk, free.pk)]
    with contextlib.closing(other), other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT id FROM agents_agent WHERE id = %s FOR UPDATE", [held.pk])
        assert services.record_heartbeats(heartbeats=beats, now=now) == {held.pk}
        assert Agent.objects.get(last_seen_at=now).pk == free.pk
    assert wait_for(lambda: not services.record_heartbeats(heartbeats=beats, now=now))
    assert Agent.objects.filter(last_seen_at=now).count() == 2
