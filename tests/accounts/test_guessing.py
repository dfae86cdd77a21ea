"""Guessing is slowed for an address that tries many names and for a name that is tried from everywhere."""

import pytest
from django.test import Client
from pytest_django import Settings

from apps.accounts import passwords
from apps.core.limits import counters
from tests import factories
from tests.factories import PASSWORD, Cast

LOGIN = "/accounts/login/"


@pytest.fixture(autouse=True)
def _counted_anew(settings: Settings) -> None:
    counters.forget_all()
    settings.SIGN_IN_FAILURES_PER_ADDRESS = 5
    settings.SIGN_IN_FAILURES_PER_NAME = 4


def attempt(name: str, password: str = "wrong", address: str = "192.0.2.1", at: str = LOGIN):
    return Client(REMOTE_ADDR=address).post(at, {"username": name, "password": password})


def test_an_address_that_tries_many_names_is_slowed_and_not_locked(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "ADDRESS_EVERY_S", 0.5)
    for number in range(5):
        assert attempt(f"name{number}").status_code == 200
    assert attempt("name6").status_code == 200, "one at a time"
    slowed = attempt("name7")
    assert slowed.status_code == 429
    assert int(slowed.headers["Retry-After"]) >= 1
    assert "attempts are taken one after the other" in slowed.content.decode()
    assert attempt("alice", PASSWORD).status_code == 429, "whoever it is"
    assert attempt("alice", PASSWORD, "192.0.2.2").status_code == 302, "other addresses are not concerned"
    counters.forget("sign-in:address:192.0.2.1:turn")
    assert attempt("alice", PASSWORD).status_code == 302, "the owner comes in when it is their turn"
    assert attempt("alice", PASSWORD).status_code == 302, "and is known there from then on"


def test_a_few_typos_of_a_site_slow_nobody(cast: Cast) -> None:
    for name in ("alice", "bob", "oscar", "alice"):
        attempt(name)
    for name in ("alice", "bob", "oscar"):
        assert attempt(name, PASSWORD).status_code == 302


def test_a_name_that_is_tried_from_everywhere_is_slowed_but_not_for_its_owner(cast: Cast) -> None:
    assert attempt("alice", PASSWORD, "198.51.100.7").status_code == 302
    for number in range(4):
        assert attempt("ALICE" if number % 2 else "alice", address=f"192.0.2.{number}").status_code == 200
    assert attempt("alice", address="192.0.2.50").status_code == 200
    assert attempt("alice", PASSWORD, address="192.0.2.51").status_code == 429
    assert attempt("alice", PASSWORD, "198.51.100.7").status_code == 302, "from where she signed in before"
    assert attempt("bob", PASSWORD, "192.0.2.52").status_code == 302, "other names are not concerned"


def test_the_administrators_page_is_slowed_too(cast: Cast) -> None:
    for number in range(6):
        attempt(f"name{number}")
    assert attempt("root", at="/admin/login/").status_code == 429


def test_without_valkey_everybody_signs_in(cast: Cast, settings: Settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock?db=0"
    counters._store.cache_clear()
    settings.SIGN_IN_FAILURES_PER_ADDRESS = settings.SIGN_IN_FAILURES_PER_NAME = 0
    try:
        assert attempt("alice", PASSWORD).status_code == 302
    finally:
        counters._store.cache_clear()


def test_strange_names_and_addresses_break_nothing(cast: Cast) -> None:
    for name in ("", "\0", "a" * 10_000, "ＡＬＩＣＥ"):
        assert attempt(name).status_code == 200
    assert attempt("alice", PASSWORD, address="").status_code == 302
    assert factories.user("zoe")
