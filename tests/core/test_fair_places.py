"""Places for what takes seconds: who waits is let in by what they, or their teams, had lately."""

import threading
import time

import pytest

from apps.core.limits.fair_places import FairPlaces, Owners, PlacesTakenError

pytestmark = pytest.mark.django_db
A, B, NEW = Owners("person 1", ("team 1",)), Owners("person 2", ("team 2",)), Owners("person 3", ("team 3",))


def test_of_one_person_one_and_of_one_team_not_all() -> None:
    places = FairPlaces(2, wait_s=0.01)
    with places.turn(A):
        for held in (A, Owners("person 1"), Owners("person 9", ("team 1",))):
            with pytest.raises(PlacesTakenError) as refusal, places.turn(held):
                pass
            assert refusal.value.is_own
        with places.turn(B):
            with pytest.raises(PlacesTakenError) as refusal, places.turn(NEW):
                pass
            assert not refusal.value.is_own
    with places.turn(A), places.turn(B):
        pass


def test_nobody_with_a_name_is_one_of_many() -> None:
    places = FairPlaces(2, wait_s=0.01)
    with places.turn(Owners("")), places.turn(Owners("")), pytest.raises(PlacesTakenError), places.turn(A):
        pass


def test_of_two_of_one_team_who_had_less_is_before_the_other() -> None:
    places, mate = FairPlaces(1, wait_s=0.01), Owners("person 8", ("team 1",))
    with places.turn(A):
        time.sleep(1.1)
    now = time.monotonic()
    assert places._had(NEW, now) < places._had(mate, now) < places._had(A, now)


@pytest.mark.parametrize("again", [A, Owners("person 1", ("team 99",)), Owners("person 99", ("team 1",))])
def test_who_had_nothing_is_before_who_had_much_whoever_came_first(again: Owners) -> None:
    places, order = FairPlaces(1, wait_s=30), []

    def ask(name: str, owners: Owners) -> None:
        with places.turn(owners):
            order.append(name)

    with places.turn(A):
        time.sleep(1.1)
    threads = [threading.Thread(target=ask, args=("again", again)), threading.Thread(target=ask, args=("new", NEW))]
    with places.turn(B):
        for number, thread in enumerate(threads, start=1):
            thread.start()
            while len(places._waiting) < number:
                time.sleep(0.01)
    for thread in threads:
        thread.join()
    assert order == ["new", "again"]


def test_what_breaks_gives_its_place_back() -> None:
    places = FairPlaces(1, wait_s=0.01)
    for _attempt in range(3):
        with pytest.raises(ValueError, match="broken"), places.turn(A):
            raise ValueError("broken")
