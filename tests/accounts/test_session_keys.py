"""A cookie that holds anything but a session's key is nobody's, whoever reads it."""

import pytest
from django.conf import settings
from django.test import Client

from apps.accounts.senders import sender_of
from tests import factories

KEYS = ['"\\000abcdefghijklmnopqrstuvwxyz01234"', '"\\377\\000"', "x" * 8, "A" * 32, "a" * 10_000, "../../etc/passwd"]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("path", ["/campaigns/", "/accounts/login/", "/api/v1/campaigns/", "/health/"])
def test_it_is_read_as_no_session(path: str, key: str, db: None) -> None:
    cookie = f"{settings.SESSION_COOKIE_NAME}={key}"
    assert Client().get(path, HTTP_COOKIE=cookie).status_code == Client().get(path).status_code


@pytest.mark.parametrize("key", KEYS)
def test_nobody_sends_a_body_with_it(key: str, db: None) -> None:
    assert sender_of({b"cookie": f"{settings.SESSION_COOKIE_NAME}={key}".encode()}) == ""


def test_a_key_that_was_given_out_is_somebodys(cast: factories.Cast) -> None:
    client = factories.signed_in(cast.alice)
    assert client.get("/campaigns/").status_code == 200
    cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    assert sender_of({b"cookie": cookie.encode()}) != ""
