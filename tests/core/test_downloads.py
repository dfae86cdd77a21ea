"""Downloads are shared among readers, and nobody holds a place for longer than what is taken is worth."""

import asyncio
import itertools
import math
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.test import AsyncRequestFactory

from apps.core import downloads, outage
from apps.core.downloads import Pace, Places
from apps.core.limits.fair_places import Owners
from apps.core.limits.policies import LimitExceededError
from apps.core.streams import Stalled, send

# A connection that a test before left open may be given back.
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "WAIT_S", 0.05)


def test_who_has_a_share_is_refused_at_once_and_others_where_all_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "WAIT_S", 0.5)
    places, here, there = Places(4), ["at 192.0.2.1"], ["at 192.0.2.2"]
    held = [places.place(Owners("person 1", here)) for _time in range(2)]
    began = time.monotonic()
    with pytest.raises(LimitExceededError) as refused:
        places.place(Owners("person 1", there))
    assert time.monotonic() - began < 0.5
    assert refused.value.retry_after_s > 0
    held.append(places.place(Owners("person 2", here)))
    with pytest.raises(LimitExceededError):
        places.place(Owners("person 3", here))
    held.append(places.place(Owners("person 3", there)))
    with pytest.raises(outage.Busy):
        places.place(Owners("person 4", there))
    for place in held:
        place.give_back()
    assert [places.place(Owners("person 1", here)).state.left for _time in range(2)] == [1, 0]


@pytest.mark.parametrize("file_owner", ["", "team 1"], ids=["anything", "the files of one team"])
def test_who_downloads_again_and_again_shuts_nobody_out(file_owner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "WAIT_S", 5.0)
    places, is_over = Places(1), threading.Event()

    def again_and_again() -> None:
        while not is_over.is_set():
            with suppress(LimitExceededError, outage.Busy):
                place = places.place(Owners("at 192.0.2.1"), file_owner=file_owner)
                time.sleep(0.1)
                place.give_back()

    greedy = [threading.Thread(target=again_and_again) for _number in range(3)]
    for each in greedy:
        each.start()
    try:
        for number in range(5):
            places.place(Owners(f"at 192.0.2.{2 + number}"), file_owner=file_owner).give_back()
    finally:
        is_over.set()
        for each in greedy:
            each.join()


def request_of(user: object, address: str) -> HttpRequest:
    request = AsyncRequestFactory(REMOTE_ADDR=address).get("/")
    request.META["REMOTE_ADDR"] = address
    request.user = user  # type: ignore[assignment]
    return request


def test_anonymous_readers_take_nothing_from_those_who_are_signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "anonymous", Places(2))
    monkeypatch.setattr(downloads, "signed_in", Places(2))
    for number in range(2):
        downloads.place_for(request_of(AnonymousUser(), f"192.0.2.{number}"))
    with pytest.raises(outage.Busy):
        downloads.place_for(request_of(AnonymousUser(), "192.0.2.9"))
    monkeypatch.setattr("apps.accounts.owners.owners_of", lambda user: Owners(f"person {user.pk}"))
    person = SimpleNamespace(pk=7, is_authenticated=True)
    assert downloads.place_for(request_of(person, "192.0.2.1")).state.quota == 1


def test_a_reader_may_take_as_long_as_what_it_takes_is_worth() -> None:
    pace = Pace()
    assert pace.left_s() == downloads.STALL_S
    # 2 KiB a second, as a reader who only wants to hold the place.
    seconds = 0
    while pace.left_s() > 0:
        pace.note(2048, 1.0)
        seconds += 1
    assert downloads.GRACE_S <= seconds <= 1.1 * downloads.GRACE_S
    steady = Pace()
    for _second in range(10_000):
        steady.note(2 * downloads.LEAST_RATE, 1.0)
    assert steady.left_s() == downloads.STALL_S


def reads(pace: Pace, rate: float, size: float) -> Iterator[float]:
    """Have a reader take so many bytes at a rate (B/s); yield the time (s) at each piece until they are given up."""
    # A piece is a second's, or as large as they are joined to.
    piece = max(64 * 1024, rate)
    for number in range(1, math.ceil(size / piece) + 1):
        if pace.left_s() <= piece / rate:
            return
        pace.note(int(piece), piece / rate)
        yield number * piece / rate


# From a little more than what is due at first to 10 Gbit/s.
@pytest.mark.parametrize("rate", [1.03 * downloads.SLOW_RATE * 2**power for power in range(16)])
def test_no_turn_is_as_long_as_the_file_where_somebody_waits(rate: float) -> None:
    longest, pace = downloads.TURN_S * (2 + math.log2(rate / downloads.SLOW_RATE)), Pace()
    course = reads(pace, rate, 2 * rate * longest)
    assert max(itertools.takewhile(lambda _seconds: pace._behind_s <= downloads.SLOW_S, course)) <= longest


def test_two_of_a_team_who_read_just_fast_enough_make_way_for_a_third(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "WAIT_S", 2.0)
    places, teams = Places(3), ["team 1"]
    held = [places.place(Owners(f"person {number}", teams)) for number in range(2)]
    for place in held:
        for _seconds in reads(place.pace, 1.03 * downloads.LEAST_RATE, 200e6):
            pass
        place.pace.give_up = place.give_back
        # A piece waits for its reader.
        place.pace.give(64 * 1024)
    places.place(Owners("person 3", teams)).give_back()


def test_a_hundred_megabytes_over_one_megabit_a_second_come_to_their_end_whoever_waits() -> None:
    pace, rate, size = Pace(), 125_000, 100e6
    behind = [pace._behind_s for _seconds in reads(pace, rate, size)]
    assert len(behind) * rate >= size
    assert max(behind) + 1 < downloads.SLOW_S


@pytest.mark.parametrize("pool", ["anonymous", "signed_in"])
@pytest.mark.parametrize(
    ("taken_bytes", "turn_s", "loses_it"),
    [(0, 300, True), (500, 300, True), (50_000, 300, False), (50_000, 0.1, True)],
)
@pytest.mark.django_db(transaction=True)
async def test_who_takes_too_little_loses_its_place_to_one_who_waits(
    taken_bytes: int, turn_s: float, loses_it: bool, pool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "WAIT_S", 3.0)
    monkeypatch.setattr(downloads, "SLOW_S", 0.4)
    monkeypatch.setattr(downloads, "SLOW_RATE", 20_000)
    monkeypatch.setattr(downloads, "TURN_S", turn_s)
    monkeypatch.setattr(downloads, pool, Places(2))
    monkeypatch.setattr("apps.accounts.owners.owners_of", lambda user: Owners(f"person {user.pk}", ["team 1"]))

    def request(number: int) -> HttpRequest:
        user = SimpleNamespace(pk=number, is_authenticated=True) if pool == "signed_in" else AnonymousUser()
        return request_of(user, f"192.0.2.{number}")

    def large() -> Iterator[bytes]:
        while True:
            yield b"0" * taken_bytes

    monkeypatch.setattr("apps.core.streams.JOINED_BYTES", taken_bytes)
    answer = send(request(1), large, name="a.csv", kind="text/csv", owner="team 1")
    pieces = aiter(answer.streaming_content)
    # Nobody waits: its pace is its own matter.
    await anext(pieces)
    await asyncio.sleep(0.0 if taken_bytes else 0.5)
    waiting = asyncio.ensure_future(asyncio.to_thread(downloads.place_for, request(2), "team 1"))
    with pytest.raises(Stalled if loses_it else (outage.Busy, LimitExceededError)):
        while not waiting.done():
            await (asyncio.sleep(0.1) if taken_bytes else asyncio.wait([waiting]))
            await anext(pieces)
        (await waiting).give_back()
        await anext(pieces)
    if loses_it:
        (await waiting).give_back()
    answer.close()


@pytest.mark.django_db(transaction=True)
async def test_who_takes_a_little_at_a_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "GRACE_S", 0.3)
    monkeypatch.setattr(downloads, "LEAST_RATE", 1 << 40)
    monkeypatch.setattr(downloads, "anonymous", Places(2))

    def pieces() -> Iterator[bytes]:
        while True:
            yield b"0" * 100

    answer = send(AsyncRequestFactory().get("/"), pieces, name="a.csv", kind="text/csv")
    began = time.monotonic()
    with pytest.raises(Exception, match="too little"):
        async for _piece in answer.streaming_content:
            await asyncio.sleep(0.05)
            assert time.monotonic() - began < 20
    for _look in range(400):
        if not downloads.anonymous._taken:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the place was not given back")
