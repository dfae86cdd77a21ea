"""Whoever shows a token of no agent waits for others who do; agents that are known wait for none of them."""

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from apps.agents import queries
from apps.agents.endpoint import database
from apps.agents.endpoint.hub import Hub
from apps.agents.endpoint.room import Problem

ELSEWHERE, HERE = "198.51.100.1", "192.0.2.1"
AGENT: Any = SimpleNamespace(node_id=1)


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], threading.Event]:
    """Have prefixes looked up, those of nobody until the event is set; "agent…" are agents'."""
    prefixes: list[str] = []
    goes_on = threading.Event()

    def look(prefix: str) -> Any:
        prefixes.append(prefix)
        if prefix.startswith("agent"):
            return AGENT
        goes_on.wait(20)
        return None

    async def run(function: Any, *args: Any) -> Any:
        return await asyncio.to_thread(function, *args)

    monkeypatch.setattr(queries, "credentials_of", look)
    monkeypatch.setattr(database, "run", run)
    return prefixes, goes_on


def test_known_agents_and_other_addresses_wait_for_no_crowd(looked_up: Any) -> None:
    prefixes, goes_on = looked_up

    async def scenario() -> None:
        hub = Hub()
        assert await hub.credentials("agent", HERE) is AGENT
        crowd = [asyncio.create_task(hub.credentials(f"nobody{number}", ELSEWHERE)) for number in range(50)]
        await asyncio.sleep(0.1)
        assert [prefix for prefix in prefixes if prefix.startswith("nobody")] == ["nobody0"]
        # One that was not seen before, of an address without a crowd, and one behind the crowd's own.
        assert await hub.credentials("agent2", HERE) is AGENT
        hub.distrust("agent")
        assert await hub.credentials("agent", ELSEWHERE) is AGENT
        goes_on.set()
        assert await asyncio.gather(*crowd) == [None] * 50

    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_who_waits_in_vain_is_told_to_come_again(looked_up: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _prefixes, goes_on = looked_up
    monkeypatch.setattr(database, "STRANGERS_WAIT_S", 0.05)

    async def scenario() -> None:
        hub = Hub()
        first = asyncio.create_task(hub.credentials("nobody", HERE))
        await asyncio.sleep(0)
        with pytest.raises(Problem) as refusal:
            await hub.credentials("nobody2", HERE)
        assert refusal.value.status == 503
        goes_on.set()
        assert await first is None
        assert await hub.credentials("agent", HERE) is AGENT

    asyncio.run(asyncio.wait_for(scenario(), 20))


def test_the_latest_agents_are_known(looked_up: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.agents.endpoint.hub.MOST_KNOWN", 1)

    async def scenario() -> None:
        hub = Hub()
        for name in ("agent1", "agent2"):
            await hub.credentials(name, HERE)
        assert list(hub._known) == ["agent2"]

    asyncio.run(scenario())
