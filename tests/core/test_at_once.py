"""Of one asker so much is under way at once, and the others are answered meanwhile."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from apps.core.limits.at_once import Asker, Askers
from apps.core.limits.policies import LimitExceededError

pytestmark = pytest.mark.django_db
WAIT_S = 0.3
PERSON = Asker("person 1")
OTHER = Asker("person 2")


def at(address: str) -> Asker:
    return Asker(address, is_known=False)


@pytest.fixture
def askers() -> Askers:
    return Askers(2, wait_s=WAIT_S)


@contextmanager
def held(askers: Askers, asker: Asker, number: int) -> Iterator[ExitStack]:
    with ExitStack() as turns:
        for _turn in range(number):
            turns.enter_context(askers.turn(asker))
        yield turns


def wait_for(askers: Askers, number: int) -> None:
    """Return once so many wait."""
    end = time.monotonic() + 30
    while sum(map(len, askers._waiting.values())) < number:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_more_of_the_same_asker_waits_and_is_refused(askers: Askers) -> None:
    with held(askers, PERSON, 2):
        begun = time.monotonic()
        with pytest.raises(LimitExceededError) as refusal, askers.turn(PERSON):
            pass
        assert time.monotonic() - begun >= WAIT_S
        assert refusal.value.retry_after_s == 5
        with askers.turn(OTHER), askers.turn(at("127.0.0.1")):
            pass
    with held(askers, PERSON, 2):
        pass


def test_who_waits_is_let_in_when_an_earlier_one_ends() -> None:
    askers = Askers(2, wait_s=60)
    with held(askers, PERSON, 2) as turns:
        threading.Timer(WAIT_S, turns.close).start()
        with askers.turn(PERSON):
            pass


def test_what_breaks_gives_its_turn_back(askers: Askers) -> None:
    for _time in range(3):
        with pytest.raises(ValueError, match="broken"), askers.turn(PERSON):
            raise ValueError("broken")


def test_who_cannot_be_told_from_others_waits_for_nobody(askers: Askers) -> None:
    with held(askers, at(""), 5):
        pass


def test_all_who_are_not_known_have_a_share_together_and_one_address_less() -> None:
    askers = Askers(3, most_of_address=2, wait_s=WAIT_S)
    with held(askers, at("192.0.2.1"), 2):
        with pytest.raises(LimitExceededError, match="your requests"), askers.turn(at("192.0.2.1")):
            pass
        with held(askers, at("192.0.2.2"), 1):
            with pytest.raises(LimitExceededError, match="not signed in"), askers.turn(at("192.0.2.3")):
                pass
            with held(askers, PERSON, 3):
                pass
    with held(askers, at("192.0.2.3"), 2):
        pass


def test_of_a_crowd_that_waits_nobody_is_looked_at_but_who_is_next(monkeypatch: pytest.MonkeyPatch) -> None:
    # All of them, each time that one ended, took nine tenths of what a crowd cost.
    looks = Counter[str]()
    has_room = Askers._has_room
    monkeypatch.setattr(Askers, "_has_room", lambda *values: looks.update(["look"]) or has_room(*values))
    askers, crowd = Askers(1, wait_s=60), 100
    with ThreadPoolExecutor(crowd) as threads, held(askers, PERSON, 1) as turns:
        ends = [threads.submit(lambda: held(askers, PERSON, 1).__enter__().close()) for _one in range(crowd)]
        wait_for(askers, crowd)
        looks.clear()
        turns.close()
        for end in ends:
            end.result()
    assert looks["look"] < 3 * crowd


def test_those_who_wait_are_let_in_by_turns() -> None:
    askers, order = Askers(1, most_of_address=1, wait_s=60), list[str]()

    def ask(address: str) -> None:
        with askers.turn(at(address)):
            order.append(address)

    with ThreadPoolExecutor(4) as threads, held(askers, at("192.0.2.9"), 1) as turns:
        for number, address in enumerate(("192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"), 1):
            threads.submit(ask, address)
            wait_for(askers, number)
        turns.close()
    assert order == ["192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.1"]


def test_who_waited_in_vain_takes_no_turn(askers: Askers) -> None:
    with held(askers, PERSON, 2):
        for _time in range(2):
            with pytest.raises(LimitExceededError), askers.turn(PERSON):
                pass
    with held(askers, PERSON, 2):
        pass


def test_of_those_who_wait_whoever_had_little_lately_is_next() -> None:
    """Twenty addresses that try passwords on and on keep somebody who signs in from waiting for all of them."""
    askers = Askers(1, wait_s=60, lately_s=60)
    many = [at(f"192.0.2.{number}") for number in range(20)]
    for asker in many:
        with askers.turn(asker):
            pass
    came: list[str] = []

    def ask(asker: Asker) -> None:
        with askers.turn(asker):
            came.append(asker.name)

    with ThreadPoolExecutor(30) as pool, askers.turn(many[0]):
        for number, asker in enumerate([*many[1:], at("198.51.100.1")]):
            pool.submit(ask, asker)
            wait_for(askers, number + 1)
    assert came[0] == "198.51.100.1"
    assert len(came) == 20
