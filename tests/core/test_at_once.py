"""Of one asker so much is under way at once, and the others are answered meanwhile."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from apps.core.limits.at_once import Askers
from apps.core.limits.policies import LimitExceededError

pytestmark = pytest.mark.django_db
WAIT_S = 0.3


@pytest.fixture
def askers() -> Askers:
    return Askers(2, wait_s=WAIT_S)


@contextmanager
def held(askers: Askers, asker: str, number: int) -> Iterator[ExitStack]:
    with ExitStack() as turns:
        for _turn in range(number):
            turns.enter_context(askers.turn(asker))
        yield turns


def test_more_of_the_same_asker_waits_and_is_refused(askers: Askers) -> None:
    with held(askers, "person 1", 2):
        begun = time.monotonic()
        with pytest.raises(LimitExceededError) as refusal, askers.turn("person 1"):
            pass
        assert time.monotonic() - begun >= WAIT_S
        assert refusal.value.retry_after_s == 5
        with askers.turn("person 2"), askers.turn("127.0.0.1"):
            pass
    with held(askers, "person 1", 2):
        pass


def test_who_waits_is_let_in_when_an_earlier_one_ends() -> None:
    askers = Askers(2, wait_s=60)
    with held(askers, "person 1", 2) as turns:
        threading.Timer(WAIT_S, turns.close).start()
        with askers.turn("person 1"):
            pass


def test_what_breaks_gives_its_turn_back(askers: Askers) -> None:
    for _time in range(3):
        with pytest.raises(ValueError, match="broken"), askers.turn("person 1"):
            raise ValueError("broken")


def test_who_cannot_be_told_from_others_waits_for_nobody(askers: Askers) -> None:
    with held(askers, "", 5):
        pass
