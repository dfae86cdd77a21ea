"""Signing in to the REST interface by token."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import ApiToken
from apps.core import secrets
from tests import factories
from tests.factories import Cast

ME = "/api/v1/me/"


def refusal(client: Client, header: str) -> str:
    response = client.get(ME, HTTP_AUTHORIZATION=header)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert response.json()["fields"] == {}
    return response.json()["detail"]


def test_a_token_signs_its_owner_in(cast: Cast, client: Client) -> None:
    assert client.get(ME, **factories.bearer(cast.oscar)).json()["username"] == "oscar"


def test_without_a_token_or_a_session_nobody_gets_in(client: Client, db: None) -> None:
    response = client.get(ME)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_the_word_bearer_may_be_written_small(cast: Cast, client: Client) -> None:
    assert client.get(ME, HTTP_AUTHORIZATION=f"bearer {factories.token(cast.oscar)}").status_code == 200


def test_an_unknown_token_is_refused(cast: Cast, client: Client) -> None:
    assert "unknown" in refusal(client, f"Bearer {secrets.issue('api').text}")


def test_a_known_prefix_with_another_secret_is_refused(cast: Cast, client: Client) -> None:
    known = factories.token(cast.oscar)
    forged = known[:-43] + secrets.issue("api").text[-43:]
    assert secrets.prefix_of(forged) == secrets.prefix_of(known)
    assert "unknown" in refusal(client, f"Bearer {forged}")


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Bearer x", "Bearer a b", "Bearer \xff\xfe", "Bearer fth_api_"]
)
def test_what_is_no_token_is_refused(client: Client, db: None, header: str) -> None:
    assert "unknown" in refusal(client, header)


def test_another_scheme_is_not_ours(client: Client, db: None) -> None:
    assert client.get(ME, HTTP_AUTHORIZATION="Basic YWxpY2U6eA==").status_code == 401


def test_an_expired_token_is_refused(cast: Cast, client: Client) -> None:
    text = factories.token(cast.oscar, expires_at=timezone.now() - timedelta(seconds=1))
    assert "expired" in refusal(client, f"Bearer {text}")


def test_a_token_works_until_it_expires(cast: Cast, client: Client) -> None:
    header = factories.bearer(cast.oscar, expires_at=timezone.now() + timedelta(minutes=1))
    assert client.get(ME, **header).status_code == 200


def test_a_revoked_token_is_refused(cast: Cast, client: Client) -> None:
    text = factories.token(cast.oscar, revoked_at=timezone.now())
    assert "revoked" in refusal(client, f"Bearer {text}")


def test_the_token_of_a_closed_account_is_refused(cast: Cast, client: Client) -> None:
    text = factories.token(cast.oscar)
    cast.oscar.is_active = False
    cast.oscar.save()
    assert "closed" in refusal(client, f"Bearer {text}")


def test_a_read_only_token_writes_nothing(cast: Cast, client: Client) -> None:
    header = factories.bearer(cast.oscar, scope="read")
    assert client.get(ME, **header).status_code == 200
    for method in (client.patch, client.post, client.put, client.delete):
        response = method(ME, data="{}", content_type="application/json", **header)
        assert response.status_code == 403
        assert "may only read" in response.json()["detail"]


def test_a_token_needs_no_csrf_token_and_a_session_does(cast: Cast) -> None:
    client = Client(enforce_csrf_checks=True)
    change = {"data": '{"theme": "dark"}', "content_type": "application/json"}
    assert client.patch(ME, **change, **factories.bearer(cast.oscar)).status_code == 200
    client.force_login(cast.oscar)
    response = client.patch(ME, **change)
    assert response.status_code == 403
    assert "CSRF" in response.json()["detail"]


def test_the_last_use_is_noted_at_most_once_a_minute(
    cast: Cast, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    header = factories.bearer(cast.oscar, last_used_at=None)
    client.get(ME, **header)
    first = ApiToken.objects.get().last_used_at
    assert first
    assert timezone.now() - first < timedelta(minutes=1)
    client.get(ME, **header)
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(seconds=61))
    client.get(ME, **header)
    assert ApiToken.objects.get().last_used_at > first - timedelta(seconds=61)
