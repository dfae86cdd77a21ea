"""At every door a body comes at a pace, or its connection is given back: pages, REST and agents, known or not."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from apps.agents import endpoint as endpoints
from apps.agents.endpoint import app, database, exchange, room
from apps.core import bodies, web
from apps.core.bodies import BodyKind
from apps.core.room import LEAST
from tests.agents import factories
from tests.agents.test_waking import close_connection
from tests.core.test_bodies import Answered, scope_of
from tests.core.test_space import PLACES, plain_addresses

REST = ("/api/v1/campaigns/", "/api/v1/inventory/", "/api/v1/nothing/")
PAGES = sorted({*plain_addresses(), *PLACES, *REST, "/nothing/"})
INSTANCE = UUID(int=7)
# A drip (s), and the pace that all kinds have here.
DRIP_S, QUICK = 0.02, bodies.BodyPace(0.2, 64 * 1024)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def doors(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[endpoints.AgentEndpoint]:
    """Yield all doors, before which everybody is asked for the same pace."""
    monkeypatch.setattr(bodies, "PACES", dict.fromkeys(BodyKind, QUICK))
    monkeypatch.setattr(bodies, "LINGER_S", 0.05)
    opened = endpoints.AgentEndpoint(otherwise=web.ReturningConnections(web.PageHandler()), hold_s=0.1)
    yield opened
    for task in opened.hub._tasks:
        task.cancel()
    await asyncio.gather(*opened.hub._tasks, return_exceptions=True)
    everywhere = threading.Barrier(4)
    await asyncio.gather(*(database.run(close_connection, everywhere) for _thread in range(4)))


async def drip(doors: Any, path: str, *headers: tuple[bytes, bytes]) -> tuple[int, int]:
    """Send a body of bytes that never end to a door; return (status, how many were taken)."""
    taken = 0

    async def receive() -> Any:
        nonlocal taken
        taken += 1
        await asyncio.sleep(DRIP_S)
        return {"type": "http.request", "body": b" ", "more_body": True}

    scope = scope_of("POST", path, (b"transfer-encoding", b"chunked"), *headers)
    answered = Answered()
    await asyncio.wait_for(doors({**scope, "client": ("10.0.0.1", 1)}, receive, answered), 30)
    assert answered.is_ended
    return answered.status, taken


async def test_no_page_and_nothing_of_rest_waits_for_a_drip(doors: Any) -> None:
    answers = dict(zip(PAGES, await asyncio.gather(*(drip(doors, path) for path in PAGES)), strict=True))
    # That the process lives is answered before anything is read.
    assert answers.pop("/health/live/")[0] == 405
    assert {status for status, _taken in answers.values()} == {408}, answers
    assert max(taken for _status, taken in answers.values()) < 20, answers


def agents_doors(job: UUID) -> list[str]:
    return [app.ROOT + name for name in (*app.NAMES, f"jobs/{job}/events", f"jobs/{UUID(int=1)}/events", "nothing")]


@pytest.fixture
def job_and_token() -> tuple[UUID, str]:
    agent, token = factories.agent()
    return factories.job(agent.node).pk, token


@pytest.mark.parametrize("is_known", [True, False], ids=["with a token", "without"])
async def test_no_door_of_agents_waits_for_a_drip(
    job_and_token: tuple[UUID, str], is_known: bool, doors: Any
) -> None:
    job, token = job_and_token
    statuses = {}
    for path in agents_doors(job):
        name = path.removeprefix(app.ROOT)
        head = [(b"authorization", f"Bearer {token}".encode())] * is_known
        # Only these need to be a process's.
        head += [(b"fathom-instance", str(INSTANCE).encode())] * (name in ("hello", "leave"))
        statuses[name], taken = await drip(doors, path, *head)
        assert taken < 20, path
    # Those that are answered at once read nothing.
    unread = {"clock": 200, f"jobs/{UUID(int=1)}/events": 404} if is_known else dict.fromkeys(statuses, 401)
    unread |= {"nothing": 404} | ({} if is_known else {"enrol": 408})
    assert statuses == {name: unread.get(name, 408) for name in statuses}
    assert [each.all.size for each in (doors._reports, doors._news, doors._enrolments)] == [0, 0, 0]


def test_who_may_be_anybody_has_the_strictest_pace() -> None:
    assert set(bodies.PACES) == set(BodyKind)
    anybody = [bodies.PACES[kind] for kind in (BodyKind.NOTHING, BodyKind.ANONYMOUS, BodyKind.GREETING)]
    for kind, pace in bodies.PACES.items():
        assert 0 < pace.within_s <= 60 and pace.least > 0, kind
        assert all(strict.within_s <= pace.within_s for strict in anybody)
    # All that they may send comes within one such time.
    for kind in (BodyKind.NOTHING, BodyKind.ANONYMOUS, BodyKind.GREETING):
        assert bodies.most_bytes(kind) <= bodies.PACES[kind].least


async def test_an_address_has_so_many_enrolments_open_and_its_slowest_gives_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lobby = room.Lobby(3 * LEAST, 8 * LEAST)

    async def hold(address: str) -> bytes:
        async def receive() -> Any:
            return await asyncio.Event().wait()

        with lobby.share_of(address) as share:
            return await exchange.read_body({"headers": []}, receive, BodyKind.GREETING, share)

    begun = [asyncio.create_task(hold("10.0.0.1")) for _number in range(4)]
    other = asyncio.create_task(hold("10.0.0.2"))
    await asyncio.sleep(0.05)
    assert [task.done() for task in begun] == [False, False, False, True]
    with pytest.raises(room.Problem, match="by this address"):
        begun[3].result()
    monkeypatch.setattr("apps.core.room.GRACE_S", 0.0)
    later = asyncio.create_task(hold("10.0.0.1"))
    await asyncio.sleep(0.05)
    assert sum(task.done() for task in begun) == 2
    assert not later.done() and not other.done()
    for task in (*begun, later, other):
        task.cancel()
    await asyncio.gather(*begun, later, other, return_exceptions=True)
    assert lobby.all.size == 0
