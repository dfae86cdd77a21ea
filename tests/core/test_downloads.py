"""Downloads are shared among readers, and nobody holds a place for longer than what is taken is worth."""

import asyncio
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.test import AsyncRequestFactory

from apps.core import downloads, outage
from apps.core.downloads import Pace, Places
from apps.core.limits.policies import LimitExceededError
from apps.core.streams import send


def test_no_reader_and_no_address_has_all_places() -> None:
    places = Places(4)
    held = [places.take("user 1", "192.0.2.1") for _time in range(2)]
    with pytest.raises(LimitExceededError) as refused:
        places.take("user 1", "192.0.2.7")
    assert refused.value.retry_after_s > 0
    held.append(places.take("user 2", "192.0.2.1"))
    with pytest.raises(LimitExceededError):
        places.take("user 3", "192.0.2.1")
    held.append(places.take("user 3", "192.0.2.2"))
    with pytest.raises(outage.Busy):
        places.take("user 4", "192.0.2.3")
    for place in held:
        place.give_back()
    assert [places.take("user 1", "192.0.2.1").state.left for _time in range(2)] == [1, 0]


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


@pytest.mark.django_db(transaction=True)
async def test_who_takes_a_little_at_a_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "GRACE_S", 0.3)
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
