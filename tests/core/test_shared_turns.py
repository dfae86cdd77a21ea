"""Beside others a person and a team have few requests in hand, however many connections they open."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Sequence

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from apps.core.limits import at_once, crowds, shared_turns
from apps.core.limits.shared_turns import KnownSender, SharedTurns
from tests.factories import Cast

MOST, ALONE, OF_PERSON, OF_TEAM = 12, 8, 2, 3
CONNECTIONS = 45
ANN, BEN, EVE = KnownSender("person 1", ("team 1",)), KnownSender("person 2", ("team 1",)), KnownSender("person 3")


def new_turns() -> SharedTurns:
    return SharedTurns(MOST, alone=ALONE, of_person=OF_PERSON, of_team=OF_TEAM)


def ask(turns: SharedTurns, sender: KnownSender, number: int = 1) -> list["asyncio.Task[None]"]:
    return [asyncio.ensure_future(turns.take(sender, within_s=60)) for _one in range(number)]


async def let_in(*tasks: Sequence["asyncio.Task[None]"]) -> list[int]:
    """Return how many of each are in hand by now."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return [sum(task.done() for task in each) for each in tasks]


def test_who_is_alone_has_all_and_beside_others_few_after_what_was_begun() -> None:
    async def scenario() -> None:
        turns = new_turns()
        many = ask(turns, ANN, CONNECTIONS)
        assert await let_in(many) == [ALONE]
        one = ask(turns, EVE)
        assert await let_in(one) == [1], "nobody else waits for them"
        had = ALONE
        for ended in range(1, 20):
            turns.give_back(ANN)
            (had,) = await let_in(many)
            assert had - ended == max(OF_PERSON, ALONE - ended)
        for task in many:
            task.cancel()

    asyncio.run(scenario())


def test_of_a_team_little_is_in_hand_beside_who_is_not_of_it_and_by_turns() -> None:
    async def scenario() -> None:
        turns = new_turns()
        eve = ask(turns, EVE)
        ann, ben = ask(turns, ANN, CONNECTIONS), ask(turns, BEN, CONNECTIONS)
        assert sum(await let_in(ann, ben)) == OF_TEAM
        for _round in range(20):
            turns.give_back(ANN)
            turns.give_back(BEN)
            of_ann, of_ben = await let_in(ann, ben)
            assert abs(of_ann - of_ben) <= 1, "persons of one team have as much"
        assert await let_in(eve, ask(turns, EVE)) == [1, 1]
        for task in (*ann, *ben):
            task.cancel()

    asyncio.run(scenario())


def test_teams_in_which_all_are_take_nothing_from_each_other() -> None:
    async def scenario() -> None:
        turns = new_turns()
        ann, ben = ask(turns, ANN, 9), ask(turns, BEN, 9)
        assert await let_in(ann, ben) == [ALONE, OF_PERSON]
        for task in (*ann, *ben):
            task.cancel()

    asyncio.run(scenario())


def test_who_was_answered_is_there_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(1000.0, 0.0)
    monkeypatch.setattr(shared_turns.time, "monotonic", lambda: next(clock))

    async def scenario() -> None:
        nonlocal clock
        turns = new_turns()
        await turns.take(EVE, within_s=60)
        turns.give_back(EVE)
        ann = ask(turns, ANN, CONNECTIONS)
        assert await let_in(ann) == [OF_PERSON]
        clock = itertools.count(1000.0 + shared_turns.READS_S, 0.0)
        turns.give_back(ANN)
        assert await let_in(ann) == [1 + ALONE]
        for task in ann:
            task.cancel()

    asyncio.run(scenario())


@pytest.mark.parametrize("seed", range(20))
def test_whatever_comes_and_goes_all_are_let_in_within_the_bounds(seed: int) -> None:
    random_order = random.Random(seed)
    teams = [f"team {number}" for number in range(3)]
    senders = [
        KnownSender(f"person {number}", tuple(random_order.sample(teams, random_order.randrange(3))))
        for number in range(6)
    ]

    async def scenario() -> None:
        turns = new_turns()
        waiting = [(sender, task) for sender in random_order.choices(senders, k=150) for task in ask(turns, sender)]
        in_hand: list[KnownSender] = []
        while waiting or in_hand:
            await asyncio.sleep(0)
            in_hand += [sender for sender, task in waiting if task.done() and not task.cancelled()]
            waiting = [(sender, task) for sender, task in waiting if not task.done()]
            assert len(in_hand) <= MOST
            of_person = Counter(sender.person for sender in in_hand)
            assert max(of_person.values(), default=0) <= ALONE
            if random_order.random() < 0.2 and waiting:
                waiting.pop(random_order.randrange(len(waiting)))[1].cancel()
            elif in_hand:
                turns.give_back(in_hand.pop(random_order.randrange(len(in_hand))))
            else:
                assert waiting, "somebody is let in"
                await asyncio.sleep(0)
                assert any(task.done() for _sender, task in waiting), "nothing is in hand, and they wait"
        assert not any(there.in_hand or there.waiting for there in turns._there.values())

    asyncio.run(scenario())


def test_steps_of_what_is_sent_while_it_is_made_have_turns_before_their_readers_pages() -> None:
    async def scenario() -> None:
        many = crowds.Crowds()
        many._known[crowds._proof(b"Bearer a", b"")] = ANN, float("inf")
        await many._of_known.take(EVE, within_s=60)
        pages = [many.turn_of("192.0.2.1", "/", b"Bearer a", b"") for _page in range(CONNECTIONS)]
        waiting = [asyncio.ensure_future(page.take()) for page in pages]
        assert await let_in(waiting) == [crowds.OF_PERSON]
        crowds.step_turn.set(lambda: many.turn_of("192.0.2.1", "/", b"Bearer a", b"").of_step())
        is_begun = asyncio.Event()

        async def make_step() -> None:
            async with crowds.step():
                is_begun.set()

        step = asyncio.ensure_future(make_step())
        assert await let_in(waiting) == [crowds.OF_PERSON]
        assert not is_begun.is_set()
        pages[0].give_back()
        await step
        assert await let_in(waiting) == [crowds.OF_PERSON + 1], "after the step the next page is let in"
        for task in waiting:
            task.cancel()

    asyncio.run(scenario())


def test_who_waits_in_vain_is_told_that_it_is_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowds, "KNOWN_WAIT_S", 0.01)

    async def scenario() -> HttpResponse:
        turns = SharedTurns(1, alone=1, of_person=1, of_team=1)
        await crowds.Turn(turns, ANN).take()
        with pytest.raises(crowds.CrowdedError) as refusal:
            await crowds.Turn(turns, ANN).take()
        return crowds.refusal("/", refusal.value)

    answer = asyncio.run(scenario())
    assert answer.status_code == 429
    assert b"your requests" in answer.content


def test_sessions_and_tokens_of_a_person_count_as_theirs_and_their_teams(cast: Cast) -> None:
    many = crowds.Crowds()
    for authorization in ("Bearer a", "Bearer b"):
        request = RequestFactory().get("/", HTTP_AUTHORIZATION=authorization)
        request.user = cast.alice
        many.note(request, at_once.asker_of(request))
    senders = {sender for sender, _since in many._known.values()}
    assert senders == {KnownSender(f"person {cast.alice.pk}", (f"team {cast.team.pk}",))}
