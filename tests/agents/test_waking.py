"""How waiting polls are woken: by Redis at once, by the sweep when Redis is away."""

import asyncio
import logging
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from apps.agents import queries, services, wake
from apps.agents.endpoint import AgentEndpoint, database, hub
from apps.agents.models import Agent
from apps.core import bodies
from launch import embedded, process
from tests.agents import factories
from tests.agents.live import Call, Client, LiveServer, wait_for
from tests.rest import racing

# Tests put others in its place.
run_in_thread = database.run

pytestmark = pytest.mark.django_db(transaction=True)


class OwnRedis:
    """A server of the test's own, to be killed and brought back."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "log"
        self.server = embedded.valkey(folder, durable=False)
        self.child: process.Child | None = None

    def start(self) -> None:
        self.child = process.Child(self.server.process, log=self.log)
        self.child.wait_ready()

    def stop(self) -> None:
        self.child.kill_group()
        self.child.stop()


@pytest.fixture
def redis(settings: Any) -> Iterator[OwnRedis]:
    with tempfile.TemporaryDirectory() as folder:
        own = OwnRedis(Path(folder))
        own.start()
        settings.REDIS_URL = own.server.url
        wake._client.cache_clear()
        yield own
        own.stop()
        wake._client.cache_clear()


@pytest.fixture
def own_server(redis: OwnRedis, tmp_path: Path) -> Iterator[LiveServer]:
    server = LiveServer(tmp_path / "log", REDIS_URL=redis.server.url)
    server.start()
    yield server
    server.stop()


def seconds_to_hand_out(server: LiveServer, agent: Agent, token: str) -> float:
    """Return how long a poll that waits takes to get a new job."""
    poll = Call(Client(server.port, token), "poll")
    time.sleep(0.5)
    began = time.monotonic()
    job = factories.job(agent.node)
    (handed,) = poll.wait()[1]["jobs"]
    assert handed["id"] == str(job.pk)
    services.record_report(
        node_id=agent.node_id,
        job_id=job.pk,
        report=services.JobReport(state=job.State.ENDED, ended_at=timezone.now()),
    )
    return poll.ended_at - began


def test_polls_are_woken_while_redis_is_away_and_at_once_when_it_is_back(
    own_server: LiveServer, redis: OwnRedis
) -> None:
    agent, token = factories.agent()
    assert seconds_to_hand_out(own_server, agent, token) < 0.5
    redis.stop()
    assert seconds_to_hand_out(own_server, agent, token) < hub.SWEEP_EVERY_S + 1
    redis.start()
    wait_for(lambda: "Redis is back" in own_server.log.read_text())
    assert seconds_to_hand_out(own_server, agent, token) < 0.5
    assert own_server.log.read_text().count("The message broker does not work") == 1


def test_a_call_that_cannot_be_published_is_logged_and_harms_nothing(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    wake._client.cache_clear()
    factories.job(factories.node())
    wake._client.cache_clear()
    assert "the next sweep finds" in caplog.text


class Exchange:
    """One request to the endpoint in this process."""

    def __init__(self, endpoint: AgentEndpoint) -> None:
        self.endpoint = endpoint

    async def ask(
        self, path: str, *parts: dict[str, Any], token: str = "", request: str = ""
    ) -> list[dict[str, Any]]:
        """Return the messages sent in answer to a POST whose body comes in parts."""
        messages = iter(parts or [{"type": "http.request", "body": b"{}"}])
        sent: list[dict[str, Any]] = []
        headers = [(b"authorization", f"Bearer {token}".encode())] if token else []
        headers += [(b"fathom-request", request.encode())] if request else []

        async def receive() -> dict[str, Any]:
            return next(messages)

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.endpoint({"path": path, "method": "POST", "headers": headers}, receive, send)
        return sent


def close_connection(everywhere: threading.Barrier) -> None:
    everywhere.wait(10)
    connection.close()


@pytest.fixture
async def exchange() -> AsyncIterator[Exchange]:
    async def otherwise(scope: Any, receive: Any, send: Any) -> None:
        await send({"page": scope["path"]})

    endpoint = AgentEndpoint(otherwise=otherwise, hold_s=0.2)
    yield Exchange(endpoint)
    for task in endpoint.hub._tasks:
        task.cancel()
    await asyncio.gather(*endpoint.hub._tasks, return_exceptions=True)
    # The threads keep their connections, and the test database cannot be dropped while there are any.
    everywhere = threading.Barrier(4)
    await asyncio.gather(*(run_in_thread(close_connection, everywhere) for _thread in range(4)))


@pytest.fixture
def token() -> str:
    return factories.agent()[1]


async def test_other_addresses_are_the_pages_business(exchange: Exchange) -> None:
    assert await exchange.ask("/agents/") == [{"page": "/agents/"}]


async def test_an_idle_poll_is_answered_when_its_time_is_up(token: str, exchange: Exchange) -> None:
    began = time.monotonic()
    start, body = await exchange.ask("/agent/v1/poll", token=token)
    assert start["status"] == 200
    assert body["body"] == b'{"jobs":[],"stop":[]}'
    assert 0.2 <= time.monotonic() - began < 3


async def test_a_body_in_parts_is_read_up_to_its_limit(token: str, exchange: Exchange) -> None:
    half = {"type": "http.request", "body": b" " * (bodies.most_bytes(bodies.BodyKind.NEWS) // 2), "more_body": True}
    last = {"type": "http.request", "body": b'{"facts": {}}', "more_body": False}
    assert (await exchange.ask("/agent/v1/facts", half, last, token=token))[0]["status"] == 200
    assert (await exchange.ask("/agent/v1/facts", half, half, last, token=token))[0]["status"] == 413


async def test_an_agent_that_hangs_up_gets_no_answer(token: str, exchange: Exchange) -> None:
    half = {"type": "http.request", "body": b"{", "more_body": True}
    assert await exchange.ask("/agent/v1/facts", half, {"type": "http.disconnect"}, token=token) == []


async def test_it_says_when_the_database_is_away(
    token: str, exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_args: object, **_words: object) -> None:
        raise database.Unavailable("gone")

    monkeypatch.setattr(database, "run", away)
    start, body = await exchange.ask("/agent/v1/facts", token=token)
    assert start["status"] == 503
    assert b"try again" in body["body"]


async def test_the_database_is_known_to_be_away_by_its_errors() -> None:
    def fail() -> None:
        raise OperationalError("the connection is lost")

    with pytest.raises(database.Unavailable, match="is lost"):
        await database.run(fail)


async def test_a_fault_of_ours_is_logged_and_told_without_details(
    token: str, exchange: Exchange, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(**_words: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(services, "record_facts", fail)
    start, body = await exchange.ask(
        "/agent/v1/facts", {"type": "http.request", "body": b'{"facts": {}}'}, token=token
    )
    assert start["status"] == 500
    assert b"secret" not in body["body"]
    assert "secret detail" in caplog.text


@pytest.mark.parametrize("error", [Agent.DoesNotExist("no agent"), racing.collision()])
async def test_what_another_did_at_this_moment_is_to_be_asked_again(
    token: str, exchange: Exchange, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(**_words: object) -> None:
        raise error

    monkeypatch.setattr(services, "record_facts", fail)
    start, body = await exchange.ask(
        "/agent/v1/facts", {"type": "http.request", "body": b'{"facts": {}}'}, token=token
    )
    # An agent keeps what it has to report, and tries again.
    assert start["status"] == 503
    assert b'"changed"' in body["body"]


async def test_heartbeats_that_could_not_be_written_are_written_later(
    token: str, exchange: Exchange, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    written: list[Any] = []
    results = iter([OperationalError("gone"), RuntimeError("odd"), None])

    def record(*, heartbeats: list[services.Heartbeat], now: object) -> set[int]:
        result = next(results)
        if result is not None:
            raise result
        written.extend(heartbeats)
        return set()

    endpoint_hub = exchange.endpoint.hub
    endpoint_hub.hear(7, 0.5, 0.1)
    monkeypatch.setattr(services, "record_heartbeats", record)
    for error in (database.Unavailable, RuntimeError):
        with pytest.raises(error):
            await endpoint_hub._write_heartbeats()
        endpoint_hub.hear(7)
    await endpoint_hub._write_heartbeats()
    assert [(beat.agent_id, beat.offset_s) for beat in written] == [(7, 0.5)]


async def test_the_hubs_work_goes_on_after_a_failure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    turns: list[int] = []
    done = asyncio.Event()

    async def step() -> None:
        turns.append(1)
        if len(turns) == 1:
            raise database.Unavailable("gone")
        if len(turns) == 2:
            raise RuntimeError("odd")
        done.set()

    task = asyncio.create_task(hub._every(0.01, step))
    await asyncio.wait_for(done.wait(), 5)
    task.cancel()
    assert "The database is away: gone" in caplog.text
    assert "RuntimeError: odd" in caplog.text


async def test_a_token_is_looked_up_once_and_again_when_it_is_called_off(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def look(prefix: str) -> queries.Credentials | None:
        looked.append(prefix)
        return queries.Credentials(1, 17, 3, "digest", False) if prefix == "known" else None

    monkeypatch.setattr(queries, "credentials_of", look)
    endpoint_hub = exchange.endpoint.hub
    for _time in range(3):
        assert await endpoint_hub.credentials("known")
    assert looked == ["known"]
    endpoint_hub.take_call("!18,nonsense,!x")
    await endpoint_hub.credentials("known")
    assert looked == ["known"]
    endpoint_hub.take_call("!17")
    await endpoint_hub.credentials("known")
    assert looked == ["known", "known"]
    for _time in range(2):
        assert await endpoint_hub.credentials("unknown") is None
    assert looked[2:] == ["unknown", "unknown"]
