"""Teams and memberships over REST."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import Membership, Role, Team, User
from tests import factories
from tests.factories import Cast


def send(person: User | None, method: str, path: str, body: Any = None) -> Any:
    client = Client()
    if person:
        client.force_login(person)
    data = (
        {}
        if method == "get"
        else {"data": "" if body is None or method == "delete" else body, "content_type": "application/json"}
    )
    return getattr(client, method)(f"/api/v1/{path}", **data)


def own(cast: Cast, name: str) -> Membership:
    return Membership.objects.get(team=cast.team, user__username=name)


def test_strangers_get_nothing(cast: Cast) -> None:
    member = own(cast, "bob").pk
    for path in ("teams/", "teams/grid/", "memberships/", f"memberships/{member}/"):
        assert send(None, "get", path).status_code == 401
    assert send(None, "post", "teams/", {"name": "x"}).status_code == 401
    assert send(None, "delete", f"memberships/{member}/").status_code == 401


def test_another_team_does_not_exist(cast: Cast) -> None:
    member = own(cast, "bob").pk
    assert send(cast.charlie, "get", "teams/grid/").status_code == 404
    assert send(cast.charlie, "patch", "teams/grid/", {"name": "x"}).status_code == 404
    for method in ("get", "patch", "delete"):
        assert send(cast.charlie, method, f"memberships/{member}/", {"role": "viewer"}).status_code == 404
    assert [team["slug"] for team in send(cast.charlie, "get", "teams/").json()["results"]] == ["strangers"]
    [answer] = send(cast.charlie, "get", "memberships/?team=grid").json()["fields"]["team"]
    assert answer == "There is no such one here. There are: strangers."


@pytest.mark.parametrize("name", ["bob", "oscar"])
def test_others_than_managers_read_only(cast: Cast, name: str) -> None:
    person = getattr(cast, name)
    alice = own(cast, "alice").pk
    assert send(person, "get", "teams/grid/").json()["members"] == 3
    assert send(person, "get", f"memberships/{alice}/").json()["username"] == "alice"
    assert send(person, "patch", "teams/grid/", {"name": "x"}).status_code == 403
    assert send(person, "patch", f"memberships/{alice}/", {"role": "viewer"}).status_code == 403
    assert send(person, "delete", f"memberships/{alice}/").status_code == 403
    response = send(person, "post", "teams/grid/invitations/", {"username": "charlie", "role": "viewer"})
    assert response.status_code == 403
    assert "this needs manager" in response.json()["detail"]


def test_a_team_is_shown_with_ones_own_role(cast: Cast) -> None:
    team = send(cast.bob, "get", "teams/grid/").json()
    assert (team["slug"], team["name"], team["role"], team["members"]) == ("grid", "grid", "viewer", 3)
    root = factories.user("root", is_superuser=True)
    assert send(root, "get", "teams/grid/").json()["role"] is None


def test_who_makes_a_team_is_its_manager(cast: Cast) -> None:
    response = send(cast.bob, "post", "teams/", {"name": "Pusan"})
    assert response.status_code == 201
    made = response.json()
    assert (made["slug"], made["role"], made["members"]) == ("pusan", "manager", 1)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "grid"}, "name"),
        ({"name": "B", "slug": "grid"}, "slug"),
        ({"name": "B", "slug": "a b"}, "slug"),
        ({"name": "B", "slug": "new"}, "slug"),
        ({"name": "x" * 101}, "name"),
    ],
)
def test_a_wrong_team_is_named_by_field(cast: Cast, body: dict[str, str], field: str) -> None:
    response = send(cast.bob, "post", "teams/", body)
    assert response.status_code == 400
    assert list(response.json()["fields"]) == [field]
    assert Team.objects.count() == 2


def test_a_manager_renames_a_team_whose_short_name_stays(cast: Cast) -> None:
    assert send(cast.alice, "patch", "teams/grid/", {"name": "KISTI", "slug": "grid"}).json()["name"] == "KISTI"
    response = send(cast.alice, "patch", "teams/grid/", {"slug": "kisti"})
    assert response.status_code == 400
    assert list(response.json()["fields"]) == ["slug"]
    assert send(cast.alice, "delete", "teams/grid/").status_code == 405


def test_a_manager_changes_and_removes_a_member_and_adds_none(cast: Cast) -> None:
    assert send(cast.alice, "post", "memberships/", {"team": "grid", "username": "charlie"}).status_code == 405
    path = f"memberships/{own(cast, 'bob').pk}/"
    assert send(cast.alice, "patch", path, {"role": "operator"}).json()["role"] == "operator"
    assert send(cast.alice, "delete", path).status_code == 204
    assert send(cast.alice, "get", path).status_code == 404


def test_a_member_is_neither_moved_nor_swapped(cast: Cast) -> None:
    Membership.objects.create(team=cast.other_team, user=cast.alice, role=Role.MANAGER)
    path = f"memberships/{own(cast, 'bob').pk}/"
    assert list(send(cast.alice, "patch", path, {"team": "strangers"}).json()["fields"]) == ["team"]
    assert list(send(cast.alice, "patch", path, {"username": "oscar"}).json()["fields"]) == ["username"]
    assert send(cast.alice, "patch", path, {"team": "grid", "username": "bob", "role": "viewer"}).status_code == 200


def test_the_last_manager_stays(cast: Cast) -> None:
    path = f"memberships/{own(cast, 'alice').pk}/"
    for method in ("patch", "delete"):
        response = send(cast.alice, method, path, {"role": "viewer"})
        assert response.status_code == 409
        assert "without a manager" in response.json()["detail"]
    assert own(cast, "alice").role == Role.MANAGER


def test_everyone_may_leave(cast: Cast) -> None:
    assert send(cast.bob, "delete", f"memberships/{own(cast, 'bob').pk}/").status_code == 204


def test_lists_are_filtered_and_cheap(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for number in range(30):
        person = factories.user(f"m{number}")
        Membership.objects.create(team=cast.team, user=person, role=Role.VIEWER)
        factories.team(f"t{number}", manager=cast.alice)
    header = factories.bearer(cast.alice)
    Client().get("/api/v1/me/", **header)
    for path, count in (("memberships", 63), ("teams", 31)):
        with django_assert_max_num_queries(3):
            assert Client().get(f"/api/v1/{path}/?page_size=100", **header).json()["count"] == count
    assert send(cast.alice, "get", "memberships/?team=grid&role=manager").json()["count"] == 1
    assert send(cast.alice, "get", "memberships/?username=m3").json()["count"] == 1
    assert send(cast.alice, "get", "teams/?search=t1&ordering=-name").json()["results"][0]["slug"] == "t19"
