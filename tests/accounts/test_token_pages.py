"""API tokens in the browser."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import ApiToken
from apps.core import secrets
from tests import factories
from tests.factories import Cast

NEW = {"name": "ci", "scope": "read", "days": "30"}


@pytest.fixture
def alice(cast: Cast, client: Client) -> Client:
    client.force_login(cast.alice)
    return client


def test_a_stranger_is_asked_to_sign_in(cast: Cast, client: Client) -> None:
    factories.token(cast.alice)
    token = ApiToken.objects.get()
    for path in ("", "new/", f"{token.pk}/revoke/"):
        assert client.get(f"/accounts/tokens/{path}").status_code == 302
    assert client.post("/accounts/tokens/new/", NEW).status_code == 302
    assert client.post(f"/accounts/tokens/{token.pk}/revoke/").status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is None


def test_others_tokens_do_not_exist(cast: Cast, alice: Client) -> None:
    factories.token(cast.oscar)
    token = ApiToken.objects.get()
    assert token.prefix not in alice.get("/accounts/tokens/").content.decode()
    for method in (alice.get, alice.post):
        assert method(f"/accounts/tokens/{token.pk}/revoke/").status_code == 404


def test_who_has_none_is_told_what_they_are_for(alice: Client) -> None:
    html = alice.get("/accounts/tokens/").content.decode()
    assert "No tokens yet" in html
    assert 'href="/accounts/tokens/new/"' in html


def test_a_token_is_shown_once(alice: Client) -> None:
    assert alice.get("/accounts/tokens/new/").status_code == 200
    response = alice.post("/accounts/tokens/new/", NEW)
    text = re.search(r"fth_api_\w+[\w-]+", response.content.decode())
    assert text
    token = ApiToken.objects.get()
    assert secrets.matches(text[0], token.digest)
    assert token.scope == "read"
    assert token.expires_at
    assert abs(token.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)
    assert "no-store" in response.headers["Cache-Control"]
    shown = alice.get("/accounts/tokens/").content.decode()
    assert text[0] not in shown
    assert token.prefix in shown


def test_a_token_may_last_for_ever(alice: Client) -> None:
    alice.post("/accounts/tokens/new/", NEW | {"days": "0"})
    assert ApiToken.objects.get().expires_at is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": ""}, "This is needed"),
        ({"name": "x" * 101}, "at most 100 characters"),
        ({"scope": "root"}, "This is not offered here"),
        ({"days": "-1"}, "This is not offered here"),
    ],
)
def test_a_wrong_wish_makes_no_token(alice: Client, changes: dict[str, str], said: str) -> None:
    response = alice.post("/accounts/tokens/new/", NEW | changes)
    assert response.status_code == 200
    assert said in response.content.decode()
    assert not ApiToken.objects.exists()


def test_a_token_is_revoked_after_asking(cast: Cast, alice: Client) -> None:
    text = factories.token(cast.alice)
    token = ApiToken.objects.get()
    path = f"/accounts/tokens/{token.pk}/revoke/"
    assert "Programs that use it are refused" in alice.get(path).content.decode()
    header = {"HTTP_AUTHORIZATION": f"Bearer {text}"}
    assert Client().get("/api/v1/me/", **header).status_code == 200
    assert "was revoked" in alice.post(path, follow=True).content.decode()
    assert Client().get("/api/v1/me/", **header).status_code == 401
    assert alice.post(path).status_code == 404, "once is enough"


def test_the_list_says_of_each_what_it_is_worth(cast: Cast, alice: Client) -> None:
    now = timezone.now()
    factories.token(cast.alice)
    factories.token(cast.alice, expires_at=now - timedelta(days=1), last_used_at=now - timedelta(days=2))
    factories.token(cast.alice, revoked_at=now)
    html = alice.get("/accounts/tokens/").content.decode()
    for word in ("valid", "expired", "revoked"):
        assert f'data-state="{word}"' in html or f"state-{word}" in html
    assert html.count(">Revoke<") == 2


def test_the_list_asks_the_same_few_questions_however_long_it_is(
    cast: Cast, alice: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(30):
        factories.token(cast.alice)
    with django_assert_max_num_queries(4):
        alice.get("/accounts/tokens/")
