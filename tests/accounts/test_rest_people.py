"""Oneself and one's tokens over REST."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.accounts import services
from apps.accounts.models import ApiToken, Membership, Role
from tests import factories
from tests.factories import Cast, bearer


@pytest.fixture
def alice(cast: Cast, client: Client) -> Client:
    client.force_login(cast.alice)
    return client


def send(client: Client, method: str, path: str, body: Any = None) -> Any:
    data = "" if body is None else body
    return getattr(client, method)(f"/api/v1/{path}", data, content_type="application/json")


def test_strangers_get_nothing(client: Client, db: None) -> None:
    for path in ("me/", "tokens/", "tokens/1/"):
        assert client.get(f"/api/v1/{path}").status_code == 401
    assert send(client, "post", "tokens/", {"name": "x"}).status_code == 401
    assert send(client, "patch", "me/", {"theme": "dark"}).status_code == 401
    assert send(client, "delete", "tokens/1/").status_code == 401


def test_me_says_who_asks_and_what_they_may(cast: Cast, alice: Client) -> None:
    Membership.objects.create(team=cast.other_team, user=cast.alice, role=Role.VIEWER)
    me = alice.get("/api/v1/me/").json()
    assert me["username"] == "alice"
    assert me["timezone"] == "UTC"
    assert me["teams"] == [
        {"slug": "grid", "name": "grid", "role": "manager"},
        {"slug": "strangers", "name": "strangers", "role": "viewer"},
    ]
    assert "password" not in me


def test_preferences_are_changed_over_rest_too(cast: Cast, alice: Client) -> None:
    refused = send(alice, "patch", "me/", {"theme": "dark", "username": "root"})
    assert refused.status_code == 400 and list(refused.json()["fields"]) == ["username"]
    response = send(alice, "patch", "me/", {"timezone": "Asia/Seoul", "theme": "dark", "username": "alice"})
    assert response.status_code == 200
    cast.alice.refresh_from_db()
    assert (cast.alice.timezone, cast.alice.theme, cast.alice.username) == ("Asia/Seoul", "dark", "alice")
    assert response.json()["theme"] == "dark"


@pytest.mark.parametrize(
    ("field", "value"), [("timezone", "Seoul"), ("theme", "pink"), ("language", "tlh"), ("email", "x")]
)
def test_a_wrong_preference_is_named(alice: Client, field: str, value: str) -> None:
    response = send(alice, "patch", "me/", {field: value})
    assert response.status_code == 400
    assert list(response.json()["fields"]) == [field]


def test_what_is_no_json_is_refused_in_words(alice: Client) -> None:
    response = alice.patch("/api/v1/me/", "{", content_type="application/json")
    assert response.status_code == 400
    assert "JSON" in response.json()["detail"]
    assert alice.patch("/api/v1/me/", "x", content_type="text/plain").status_code == 415
    assert alice.delete("/api/v1/me/").status_code == 405


def test_a_token_is_made_and_shown_once(alice: Client) -> None:
    until = timezone.now() + timedelta(days=3)
    response = send(alice, "post", "tokens/", {"name": "ci", "scope": "read", "expires_at": until.isoformat()})
    assert response.status_code == 201
    made = response.json()
    assert (made["name"], made["scope"]) == ("ci", "read")
    header = {"HTTP_AUTHORIZATION": f"Bearer {made['token']}"}
    assert Client().get("/api/v1/me/", **header).json()["username"] == "alice"
    for path in ("tokens/", f"tokens/{made['id']}/"):
        assert made["token"] not in alice.get(f"/api/v1/{path}").content.decode()
    assert alice.get(f"/api/v1/tokens/{made['id']}/").json()["last_used_at"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x", "scope": "root"}, "scope"),
        ({"name": "x", "expires_at": "soon"}, "expires_at"),
        ({"name": "x", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"name": "a\0b"}, "name"),
    ],
)
def test_a_wrong_token_is_named_by_field(alice: Client, body: dict[str, str], field: str) -> None:
    response = send(alice, "post", "tokens/", body)
    assert response.status_code == 400
    assert list(response.json()["fields"]) == [field]
    assert not ApiToken.objects.exists()


def test_deleting_a_token_revokes_it_and_keeps_its_row(cast: Cast, alice: Client) -> None:
    text = factories.token(cast.alice)
    token = ApiToken.objects.get()
    assert send(alice, "delete", f"tokens/{token.pk}/").status_code == 204
    token.refresh_from_db()
    assert token.revoked_at
    assert Client().get("/api/v1/me/", HTTP_AUTHORIZATION=f"Bearer {text}").status_code == 401


def test_others_tokens_do_not_exist(cast: Cast, alice: Client) -> None:
    factories.token(cast.oscar)
    token = ApiToken.objects.get()
    assert alice.get("/api/v1/tokens/").json()["count"] == 0
    assert alice.get(f"/api/v1/tokens/{token.pk}/").status_code == 404
    assert send(alice, "delete", f"tokens/{token.pk}/").status_code == 404
    assert alice.get("/api/v1/tokens/99999999999999999999/").status_code == 404


def test_a_read_only_token_makes_no_token(cast: Cast, client: Client) -> None:
    header = factories.bearer(cast.alice, scope="read")
    response = client.post("/api/v1/tokens/", {"name": "x"}, content_type="application/json", **header)
    assert response.status_code == 403


def test_lists_are_paged_filtered_and_cheap(
    cast: Cast, alice: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(60):
        factories.token(cast.alice, scope="read" if number % 2 else "write")
    # A person's teams stand on every answer.
    with django_assert_max_num_queries(5):
        page = alice.get("/api/v1/tokens/?page_size=10&page=2").json()
    assert (page["count"], len(page["results"])) == (60, 10)
    assert alice.get("/api/v1/tokens/?scope=read").json()["count"] == 30
    assert alice.get("/api/v1/tokens/?scope=root").status_code == 400
    assert alice.get("/api/v1/tokens/?page=99").status_code == 404
    assert alice.get("/api/v1/tokens/?search=nothing").json()["count"] == 0


def test_the_schema_describes_it_all(alice: Client) -> None:
    schema = alice.get("/api/v1/schema/?format=json").json()
    assert {"/api/v1/me/", "/api/v1/teams/", "/api/v1/memberships/", "/api/v1/tokens/"} <= set(schema["paths"])
    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "token" in schema["components"]["schemas"]["NewToken"]["properties"]


def test_a_token_makes_none_that_outlives_it_or_may_do_more(cast: Cast, client: Client) -> None:
    ends = timezone.now() + timedelta(days=1)
    headers = bearer(cast.bob, expires_at=ends)

    def make(**wish: object) -> Any:
        return client.post("/api/v1/tokens/", {"name": "child"} | wish, content_type="application/json", **headers)

    later = make(expires_at=(ends + timedelta(seconds=1)).isoformat())
    assert later.status_code == 400
    assert "The token that you use ends at" in later.json()["fields"]["expires_at"][0]
    assert datetime.fromisoformat(make().json()["expires_at"]) == ends, "without a time it ends with it"
    earlier = ends - timedelta(hours=1)
    assert datetime.fromisoformat(make(expires_at=earlier.isoformat()).json()["expires_at"]) == earlier
    assert make(scope="read").json()["scope"] == "read"
    endless = client.post("/api/v1/tokens/", {"name": "child"}, content_type="application/json", **bearer(cast.bob))
    assert endless.json()["expires_at"] is None
    only_reads = client.post(
        "/api/v1/tokens/", {"name": "x", "scope": "read"}, content_type="application/json", **bearer(cast.bob, "read")
    )
    assert only_reads.status_code == 403
    parent, _text = services.issue_token(user=cast.bob, name="reads", scope="read", now=timezone.now())
    with pytest.raises(ValidationError, match="may only read"):
        services.issue_token(user=cast.bob, name="x", now=timezone.now(), minted_by=parent)


def test_what_a_token_made_ends_when_it_is_revoked(cast: Cast, client: Client) -> None:
    first, text = services.issue_token(user=cast.bob, name="first", now=timezone.now())
    for _generation in range(2):
        headers = {"HTTP_AUTHORIZATION": f"Bearer {text}"}
        made = client.post("/api/v1/tokens/", {"name": "x"}, content_type="application/json", **headers).json()
        text = made["token"]
    other = bearer(cast.bob)
    services.revoke_token(token=first, now=timezone.now())
    assert client.get("/api/v1/me/", HTTP_AUTHORIZATION=f"Bearer {text}").status_code == 401
    assert client.get("/api/v1/me/", **other).status_code == 200
    assert ApiToken.objects.filter(revoked_at=None).count() == 1
