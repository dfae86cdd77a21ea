"""Passwords are hashed a few at once, by who holds no database connection, and others are answered meanwhile."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher, check_password, identify_hasher, make_password
from django.db import connection
from django.test import Client
from pytest_django import Settings

from apps.accounts import hashing
from apps.accounts.models import User
from apps.config.settings import base
from apps.core import outage

HASHERS = base.PASSWORD_HASHERS
PASSWORD = "A good one 12"
FAST = "pbkdf2_sha256$1$salt$JZFlHuSgSYpTnSCXVXNUmBQPW4H0XsHfw1qHN9+lCHc="


@pytest.fixture
def slow(settings: Settings) -> None:
    """Hash as a running service does."""
    settings.PASSWORD_HASHERS = HASHERS


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> Iterator[hashing.HashingPlaces]:
    """Take the only place."""
    places = hashing.HashingPlaces(1, wait_s=0.2)
    monkeypatch.setattr(hashing, "of_process", places)
    with places.place():
        yield places


@pytest.mark.usefixtures("slow", "full")
@pytest.mark.parametrize("work", [lambda: make_password("x"), lambda: check_password("x", FAST)])
@pytest.mark.django_db
def test_without_a_place_nothing_is_hashed(work: Callable[[], object]) -> None:
    with pytest.raises(outage.Busy, match="passwords are being checked"):
        work()


@pytest.mark.django_db
def test_those_of_django_are_still_known(slow: None) -> None:
    encoded = PBKDF2PasswordHasher().encode(PASSWORD, "salt", 1)
    assert isinstance(identify_hasher(encoded), hashing.PasswordHasher)
    assert check_password(PASSWORD, encoded)


@pytest.mark.parametrize("at", ["/accounts/login/", "/admin/login/"])
@pytest.mark.django_db
def test_who_gets_no_place_is_asked_to_come_again(at: str, slow: None, full: hashing.HashingPlaces) -> None:
    client = Client(raise_request_exception=False)
    told = client.post(at, {"username": "nobody", "password": "wrong"})
    assert (told.status_code, told.headers["Retry-After"]) == (503, "5")
    assert "passwords are being checked" in told.content.decode()


# What a person sends to each page that hashes.
PAGES: dict[str, dict[str, str]] = {
    "/accounts/login/": {"username": "root", "password": PASSWORD},
    "/admin/login/": {"username": "root", "password": PASSWORD},
    "/accounts/password/": {"old_password": PASSWORD, "new_password1": "another-12!", "new_password2": "another-12!"},
    "/admin/accounts/user/{pk}/password/": {
        "usable_password": "true", "password1": "another-12!", "password2": "another-12!",
    },
}  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.django_db(transaction=True)
def test_no_page_holds_a_connection_while_it_hashes(
    page: str, slow: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = User.objects.create_superuser("root", password=PASSWORD)
    client = Client()
    if "login" not in page:
        client.force_login(person)
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 0)
    held: list[bool] = []

    encode = hashing.PBKDF2PasswordHasher.encode

    def looking(self: Any, *args: Any) -> str:
        held.append(connection.connection is not None)
        return encode(self, *args)

    monkeypatch.setattr(hashing.PBKDF2PasswordHasher, "encode", looking)
    told = client.post(page.format(pk=person.pk), PAGES[page])
    assert told.status_code == 302
    assert held
    assert not any(held)
