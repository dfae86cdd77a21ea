"""Of no pool that a web process shares out has one person, one address or one team all: there is room for another."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from apps.agents.endpoint import database
from apps.archive.landing import kept
from apps.archive.landing.redaction import known
from apps.archive.landing.turns import turn as landing_turn
from apps.campaigns import turns as sweeps
from apps.comparison.figures import renderer
from apps.core import downloads, outage
from apps.core.limits import at_once, crowds, open_sockets
from apps.core.limits.askers import HEALTH
from apps.core.limits.fair_places import Owners
from apps.core.limits.policies import LimitExceededError
from apps.core.limits.shared_turns import KnownSender
from apps.toolbox import attempts
from tests.turns import files_that_deal_out

pytestmark = pytest.mark.django_db
PERSON, ADDRESS, TEAM = "person", "address", "team"


@dataclass(frozen=True)
class Somebody:
    """Who takes a place: one of a crowd that has one thing in common, or of another who has none of it."""

    person: str
    address: str
    team: str

    @property
    def owners(self) -> Owners:
        return Owners(self.person, (self.team,))


OTHER = Somebody("person 999", "198.51.100.1", "team 999")


def crowd(common: str) -> Iterator[Somebody]:
    """Give more than any pool has places for."""
    for number in range(3000):
        person = 1 if common == PERSON else number
        yield Somebody(
            f"person {person}",
            "192.0.2.1" if common == ADDRESS else f"2001:db8:{number:x}::/64",
            "team 1" if common in (PERSON, TEAM) else f"team {number}",
        )


@dataclass(frozen=True)
class Pool:
    """A pool: where it is, how somebody takes of it until an exit stack ends, and who could have all."""

    where: str
    take: Callable[[ExitStack, Somebody], object]
    common: tuple[str, ...]


def request_of(one: Somebody, user: Any) -> HttpRequest:
    request = HttpRequest()
    request.META["REMOTE_ADDR"], request.user = one.address.removesuffix("/64"), user
    return request


def known_download(held: ExitStack, one: Somebody) -> None:
    class User:
        pk, is_authenticated = 1, True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("apps.accounts.owners.owners_of", lambda _user: one.owners)
        held.callback(downloads.place_for(request_of(one, User())).give_back)


def anonymous_download(held: ExitStack, one: Somebody) -> None:
    held.callback(downloads.place_for(request_of(one, AnonymousUser()), one.team).give_back)


def socket(held: ExitStack, one: Somebody) -> None:
    opened = open_sockets.of_process.greet(one.address, is_known=True)
    if opened is None:
        raise LookupError
    if not opened.belong_to(one.owners):
        opened.give_back()
        raise LookupError
    held.callback(opened.give_back)


def place(places: Any, held: ExitStack, one: Somebody) -> None:
    held.enter_context(places.turn(one.owners))


def of_team(places: Any, held: ExitStack, one: Somebody) -> None:
    held.enter_context(landing_turn(places, one.team))


def stranger(askers: at_once.Askers, held: ExitStack, one: Somebody) -> None:
    held.enter_context(askers.turn(at_once.Asker(one.address, is_known=False)))


POOLS = [
    Pool("apps/core/downloads.py", known_download, (PERSON, ADDRESS, TEAM)),
    Pool("apps/core/downloads.py", anonymous_download, (ADDRESS, TEAM)),
    Pool("apps/core/limits/open_sockets.py", socket, (PERSON, ADDRESS, TEAM)),
    Pool("apps/campaigns/turns.py", partial(place, sweeps._places), (PERSON, TEAM)),
    Pool("apps/toolbox/attempts.py", partial(place, attempts._places), (PERSON, TEAM)),
    Pool("apps/comparison/figures/renderer.py", partial(place, renderer._places), (PERSON, TEAM)),
    Pool("apps/archive/landing/kept.py", partial(of_team, kept.writing), (TEAM,)),
    Pool("apps/archive/landing/redaction/known.py", partial(of_team, known.reading), (TEAM,)),
    Pool("apps/core/limits/at_once.py", partial(stranger, at_once.of_process), (ADDRESS,)),
    Pool("apps/core/limits/at_once.py", partial(stranger, at_once.of_sign_in), (ADDRESS,)),
]
WAITED_FOR = {"apps/core/limits/crowds.py", "apps/agents/endpoint/database.py"}
# Who has most gives way: test_intake.py, tests/agents/test_room.py.
ROOMS = {"apps/core/intake.py", "apps/agents/endpoint/room.py"}
ONE_AT_A_TIME = {
    # A fraction of a second each, and let in by the places of who signs in.
    "apps/accounts/hashing.py",
    # One look for all sockets of a session on a campaign, in the order in which they ask.
    "apps/campaigns/consumers.py",
}


def test_each_pool_is_looked_at() -> None:
    assert {pool.where for pool in POOLS} | WAITED_FOR | ROOMS | ONE_AT_A_TIME == files_that_deal_out()


@pytest.fixture
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    fair = [downloads.signed_in, downloads.anonymous, sweeps._places, attempts._places, renderer._places]
    for places in [*fair, kept.writing, known.reading, at_once.of_process, at_once.of_sign_in]:
        monkeypatch.setattr(places, "_wait_s", 0.01)


@pytest.mark.usefixtures("_no_waiting")
@pytest.mark.parametrize(
    ("pool", "common"),
    [
        pytest.param(pool, common, id=f"{number} {pool.where} {common}")
        for number, pool in enumerate(POOLS)
        for common in pool.common
    ],
)
def test_a_crowd_of_one_leaves_a_place_to_another(pool: Pool, common: str) -> None:
    with ExitStack() as held:
        refusals = 0
        for one in crowd(common):
            try:
                pool.take(held, one)
            except (LimitExceededError, outage.Busy, LookupError):
                refusals += 1
                if refusals > 3:
                    break
        assert refusals > 3, "it takes however many"
        pool.take(held, OTHER)


@pytest.mark.parametrize("common", [PERSON, TEAM])
async def test_a_crowd_of_known_ones_leaves_a_turn_to_another_who_was_there(common: str) -> None:
    turns, other = crowds.Crowds()._of_known, KnownSender(OTHER.person, (OTHER.team,))
    await turns.take(other, within_s=1)
    turns.give_back(other)
    senders = [KnownSender(one.person, (one.team,)) for one, _number in zip(crowd(common), range(50), strict=False)]
    tasks = [asyncio.create_task(turns.take(sender, within_s=60)) for sender in senders]
    await asyncio.sleep(0.05)
    await turns.take(other, within_s=1)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("path", ["/", at_once.SIGN_IN, HEALTH])
async def test_a_crowd_of_an_unknown_address_leaves_a_turn_to_another(path: str) -> None:
    process = crowds.Crowds()
    tasks = [asyncio.create_task(process.turn_of("192.0.2.1", path, b"", b"").take()) for _number in range(50)]
    await asyncio.sleep(0.05)
    async with asyncio.timeout(1):
        await process.turn_of(OTHER.address, path, b"", b"").take()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize(("run", "one", "other"), [(database.run_for, 1, 2), (database.run_for_stranger, "a", "b")])
async def test_the_agents_of_one_leave_a_thread_to_another(run: Any, one: object, other: object) -> None:
    may_end = threading.Event()
    tasks = [asyncio.create_task(run(one, may_end.wait, 20)) for _number in range(20)]
    try:
        await asyncio.sleep(0.05)
        async with asyncio.timeout(5):
            assert await run(other, lambda: True)
    finally:
        may_end.set()
        await asyncio.gather(*tasks)
