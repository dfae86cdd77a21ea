"""Whoever signs in where they did so before waits for nobody who tries passwords."""

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.test import Client
from pytest_django import Settings

from apps.accounts import hashing
from apps.accounts.models import User
from apps.config.settings import base
from apps.core.limits import at_once, counters
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db
NAME = "root"
HOME, ELSEWHERE = "192.0.2.1", "192.0.2.2"
PAGES = ("/accounts/login/", "/admin/login/")


@pytest.fixture(autouse=True)
def person(settings: Settings) -> User:
    """Return somebody who may sign in on every page, with a password that is hashed as in a running service."""
    counters.forget_all()
    settings.PASSWORD_HASHERS = base.PASSWORD_HASHERS
    return User.objects.create_superuser(NAME, password=PASSWORD)


@pytest.fixture
def crowd(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have others take all places of those who sign in, of two kinds: to be looked at, and to have hashes made."""
    with ExitStack() as places:
        for number in range(at_once.of_sign_in.most):
            places.enter_context(at_once.of_sign_in.turn(at_once.Asker(f"198.51.100.{number}", is_known=False)))
        for number in range(at_once.of_process.most):
            places.enter_context(at_once.of_process.turn(at_once.Asker(f"198.51.100.{number}", is_known=False)))
        for _number in range(hashing.AT_ONCE):
            places.enter_context(hashing.of_process.place())
        monkeypatch.setattr(at_once.of_sign_in, "_wait_s", 0.1)
        monkeypatch.setattr(at_once.of_process, "_wait_s", 0.1)
        yield


def signed_in(page: str, name: str = NAME, address: str = HOME) -> int:
    """Return the answer to a right password of a browser that brings nothing."""
    return Client(REMOTE_ADDR=address).post(page, {"username": name, "password": PASSWORD}).status_code


@pytest.mark.parametrize("page", PAGES)
def test_who_returns_waits_for_no_crowd_and_all_others_do(page: str, request: pytest.FixtureRequest) -> None:
    assert signed_in(page) == 302
    request.getfixturevalue("crowd")
    begun = time.monotonic()
    assert signed_in(page) == 302
    assert time.monotonic() - begun < hashing.WAIT_S
    assert signed_in(page, NAME.upper()) in (200, 302), "as names are compared"
    assert signed_in(page, address=ELSEWHERE) == 429
    assert signed_in(page, "another") == 429


def test_of_who_returns_one_attempt_is_under_way_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever tries their passwords from beside them takes no more than that."""
    assert signed_in(PAGES[0]) == 302
    monkeypatch.setattr(at_once.of_return, "_wait_s", 0.1)
    with at_once.of_return.turn(at_once.Asker("return somebody else")):
        assert signed_in(PAGES[0]) == 302
    asked: list[at_once.Asker] = []
    turn = at_once.of_return.turn
    monkeypatch.setattr(at_once.of_return, "turn", lambda asker: asked.append(asker) or turn(asker))
    assert signed_in(PAGES[0]) == 302
    with turn(asked[0]):
        assert signed_in(PAGES[0]) == 429
    assert not hashing.is_return.get()
