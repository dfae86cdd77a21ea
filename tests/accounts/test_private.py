"""Nothing of what somebody who is signed in was answered is kept on the way."""

from typing import Any

import pytest
from django.test import Client

from tests import factories
from tests.core.test_space import plain_addresses
from tests.rest import schema
from tests.rotation import part_of

pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore::UserWarning")]
PRIVATE = {"private", "no-store"}


def _kept(answer: Any) -> bool:
    words = {word.strip() for word in answer.headers.get("Cache-Control", "").split(",")}
    return not words >= PRIVATE or "public" in words


def test_no_page_of_who_is_signed_in_is_kept(cast: factories.Cast) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(cast.alice)
    addresses = [*plain_addresses(), "/campaigns/1/", "/nowhere/"]
    assert len(addresses) > 50
    # Signing out is asked last: it takes the session away.
    asked = [address for address in part_of(addresses) if "logout" not in address]
    assert not [address for address in asked if _kept(client.get(address))]


def test_no_answer_of_rest_is_kept(cast: factories.Cast) -> None:
    header, kept = factories.bearer(cast.alice), []
    client = Client(raise_request_exception=False)
    for path, method, _operation in part_of(schema.operations(schema.document())):
        address = path.replace("{slug}", "grid")
        for name in ("id", "campaign", "a", "b", "name", "tool", "stream", "permanent_id"):
            address = address.replace(f"{{{name}}}", "1")
        answer = client.generic(
            method.upper(), address, "" if method == "get" else "{}", "application/json", **header
        )
        if _kept(answer):
            kept.append((method, address))
    assert not kept


def test_strangers_answers_stay_as_they_are(client: Client, db: None) -> None:
    assert "Cache-Control" not in client.get("/c/nosuch/").headers
    assert client.get("/health/").headers["Cache-Control"] == "no-store"
