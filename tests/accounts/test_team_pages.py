"""Teams and members in the browser."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import Membership, Role, Team
from tests import factories
from tests.factories import Cast, signed_in

PAGES = ["/accounts/teams/grid/", "/accounts/teams/grid/edit/"]


def own(cast: Cast, name: str) -> Membership:
    return Membership.objects.get(team=cast.team, user__username=name)


def test_a_stranger_is_asked_to_sign_in(cast: Cast, client: Client) -> None:
    member = own(cast, "bob").pk
    for path in ["/accounts/teams/", "/accounts/teams/new/", *PAGES]:
        assert client.get(path).status_code == 302
    for path in [
        "new/",
        "grid/edit/",
        "grid/invitations/",
        f"grid/members/{member}/role/",
        f"grid/members/{member}/remove/",
    ]:
        assert client.post(f"/accounts/teams/{path}").status_code == 302
    assert Membership.objects.filter(team=cast.team).count() == 3


def test_another_team_does_not_exist(cast: Cast) -> None:
    client = signed_in(cast.charlie)
    member = own(cast, "bob").pk
    for path in PAGES:
        assert client.get(path).status_code == 404
    for path in ["edit/", "invitations/", f"members/{member}/role/", f"members/{member}/remove/"]:
        assert (
            client.post(f"/accounts/teams/grid/{path}", {"username": "charlie", "role": "manager"}).status_code == 404
        )
    assert client.post(f"/accounts/teams/strangers/members/{member}/remove/").status_code == 404
    assert "teams/grid" not in client.get("/accounts/teams/").content.decode()


@pytest.mark.parametrize("name", ["bob", "oscar"])
def test_others_than_managers_see_the_members_and_change_none(cast: Cast, name: str) -> None:
    client = signed_in(getattr(cast, name))
    html = client.get("/accounts/teams/grid/").content.decode()
    assert "alice" in html
    assert "Invite a person" not in html
    assert "Rename" not in html
    alice = own(cast, "alice").pk
    assert client.get("/accounts/teams/grid/edit/").status_code == 403
    assert client.post("/accounts/teams/grid/edit/", {"name": "mine"}).status_code == 403
    assert (
        client.post("/accounts/teams/grid/invitations/", {"username": "charlie", "role": "viewer"}).status_code == 403
    )
    assert client.post(f"/accounts/teams/grid/members/{alice}/role/", {"role": "viewer"}).status_code == 403
    assert client.post(f"/accounts/teams/grid/members/{alice}/remove/").status_code == 403
    assert Membership.objects.filter(team=cast.team).count() == 3


def test_the_list_shows_my_teams_with_my_role(cast: Cast) -> None:
    html = signed_in(cast.bob).get("/accounts/teams/").content.decode()
    assert 'href="/accounts/teams/grid/"' in html
    assert "Viewer" in html
    assert "strangers" not in html


def test_who_is_in_no_team_is_told_what_to_do(db: None) -> None:
    html = signed_in(factories.user("dana")).get("/accounts/teams/").content.decode()
    assert "You are in no team yet" in html
    assert 'href="/accounts/teams/new/"' in html


def test_a_superuser_sees_all_teams_and_manages_them(cast: Cast) -> None:
    client = signed_in(factories.user("root", is_superuser=True))
    html = client.get("/accounts/teams/").content.decode()
    assert "grid" in html
    assert "strangers" in html
    response = client.post("/accounts/teams/grid/invitations/", {"username": "charlie", "role": "viewer"})
    assert response.status_code == 302


def test_anyone_makes_a_team_and_manages_it(cast: Cast) -> None:
    client = signed_in(cast.bob)
    assert client.get("/accounts/teams/new/").status_code == 200
    response = client.post("/accounts/teams/new/", {"name": "부산대학교", "slug": ""}, follow=True)
    assert response.redirect_chain[-1][0] == "/accounts/teams/team/"
    assert "you are its manager" in response.content.decode()
    assert own_role(Team.objects.get(slug="team"), "bob") == Role.MANAGER


def own_role(team: Team, name: str) -> str:
    return Membership.objects.get(team=team, user__username=name).role


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"name": "grid", "slug": ""}, "This name is not free"),
        ({"name": "", "slug": ""}, "This is needed"),
        ({"name": "B", "slug": "grid"}, "This name is not free"),
        ({"name": "B", "slug": "a b"}, "valid “slug”"),
        ({"name": "B", "slug": "new"}, "This name is not free"),
    ],
)
def test_a_wrong_name_is_refused_at_its_field(cast: Cast, values: dict[str, str], said: str) -> None:
    response = signed_in(cast.bob).post("/accounts/teams/new/", values)
    assert response.status_code == 200
    assert said in response.content.decode()
    assert Team.objects.count() == 2


def test_a_manager_renames_the_team(cast: Cast) -> None:
    client = signed_in(cast.alice)
    assert client.get("/accounts/teams/grid/edit/").status_code == 200
    assert client.post("/accounts/teams/grid/edit/", {"name": "KISTI"}).url == "/accounts/teams/grid/"
    refused = client.post("/accounts/teams/grid/edit/", {"name": "strangers"})
    assert "This name is not free" in refused.content.decode()
    assert "Edit KISTI" in refused.content.decode()


def test_a_manager_changes_a_role(cast: Cast) -> None:
    path = f"/accounts/teams/grid/members/{own(cast, 'bob').pk}/role/"
    response = signed_in(cast.alice).post(path, {"role": "operator"}, follow=True)
    assert "bob: Operator" in response.content.decode()
    assert own(cast, "bob").role == Role.OPERATOR


def test_ones_own_role_does_not_change_by_a_slip(cast: Cast) -> None:
    html = signed_in(cast.alice).get("/accounts/teams/grid/").content.decode()
    # The roles of the two others are saved as they are chosen, one's own only by its button.
    assert html.count("data-submit-on-change") == 2


def test_an_unknown_role_changes_nothing(cast: Cast) -> None:
    path = f"/accounts/teams/grid/members/{own(cast, 'bob').pk}/role/"
    response = signed_in(cast.alice).post(path, {"role": "king"}, follow=True)
    assert "Choose viewer, operator or manager" in response.content.decode()
    assert own(cast, "bob").role == Role.VIEWER


def test_the_last_manager_is_neither_removed_nor_demoted(cast: Cast) -> None:
    client = signed_in(cast.alice)
    path = f"/accounts/teams/grid/members/{own(cast, 'alice').pk}"
    for action, values in (("role/", {"role": "viewer"}), ("remove/", {})):
        html = client.post(f"{path}/{action}", values, follow=True).content.decode()
        assert "would be left without a manager" in html
    assert own(cast, "alice").role == Role.MANAGER


def test_a_member_is_removed_after_asking(cast: Cast) -> None:
    client = signed_in(cast.alice)
    path = f"/accounts/teams/grid/members/{own(cast, 'bob').pk}/remove/"
    assert "bob will no longer see what grid owns" in client.get(path).content.decode()
    assert own(cast, "bob")
    response = client.post(path, follow=True)
    assert "bob is no longer a member of grid" in response.content.decode()
    assert client.post(path).status_code == 404


def test_everyone_may_leave_after_asking(cast: Cast) -> None:
    client = signed_in(cast.bob)
    path = f"/accounts/teams/grid/members/{own(cast, 'bob').pk}/remove/"
    assert "You will no longer see" in client.get(path).content.decode()
    assert "You have left grid" in client.post(path, follow=True).content.decode()
    assert client.get("/accounts/teams/grid/").status_code == 404


def test_lists_ask_the_same_few_questions_however_long_they_are(
    cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(20):
        person = factories.user(f"member{number}")
        Membership.objects.create(team=cast.team, user=person, role=Role.VIEWER)
        Membership.objects.create(team=factories.team(f"t{number}"), user=cast.alice, role=Role.VIEWER)
    client = signed_in(cast.alice)
    for path in ("/accounts/teams/", "/accounts/teams/grid/"):
        with django_assert_max_num_queries(7):
            assert client.get(path).status_code == 200


def test_what_changes_something_takes_a_form(cast: Cast) -> None:
    client = signed_in(cast.alice)
    assert client.get("/accounts/teams/grid/invitations/").status_code == 405
    assert client.get(f"/accounts/teams/grid/members/{own(cast, 'bob').pk}/role/").status_code == 405
    assert client.put("/accounts/teams/new/").status_code == 405


def test_the_only_manager_is_not_offered_to_leave(cast: Cast) -> None:
    page = signed_in(cast.alice).get(f"/accounts/teams/{cast.team.slug}/").content.decode()
    assert "the only manager" in page
    assert ">Leave<" not in page
    assert ">Leave<" in signed_in(cast.oscar).get(f"/accounts/teams/{cast.team.slug}/").content.decode()
    cast.team.memberships.filter(user=cast.oscar).update(role="manager")
    assert ">Leave<" in signed_in(cast.alice).get(f"/accounts/teams/{cast.team.slug}/").content.decode()
