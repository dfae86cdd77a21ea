"""Nobody becomes a member unasked, and nobody learns by inviting who has an account."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.accounts import invitations, queries, quotas, services
from apps.accounts.models import Invitation, Membership, Role, User
from apps.core.errors import ConflictError
from tests import factories
from tests.accounts.test_rest_teams import send
from tests.factories import Cast, signed_in

PAGE = "/accounts/teams/grid/invitations/"
REST = "teams/grid/invitations/"


def invited(cast: Cast, username: str = "charlie", **values: Any) -> Invitation:
    given = {"team": cast.team, "user": cast.alice, "role": Role.OPERATOR, "now": timezone.now()}
    return invitations.invite(username=username, **(given | values))


def shown_to(person: User, now: Any = None) -> list[str]:
    return [row.team.slug for row in queries.invitations_to(person.username, now or timezone.now())]


def in_grid(cast: Cast) -> set[str]:
    return set(cast.team.members.values_list("username", flat=True))


def test_nothing_changes_until_the_person_accepts(cast: Cast) -> None:
    row = invited(cast, " charlie ")
    assert in_grid(cast) == {"alice", "oscar", "bob"} and shown_to(cast.charlie) == ["grid"]
    membership = invitations.accept(invitation=row, user=cast.charlie, now=timezone.now())
    assert (membership.team, membership.role) == (cast.team, Role.OPERATOR)
    assert "charlie" in in_grid(cast) and not Invitation.objects.exists()


@pytest.mark.parametrize("name", ["charlie", "nobody", "gone", "Charlie"])
def test_the_answer_does_not_depend_on_whether_there_is_such_an_account(cast: Cast, name: str) -> None:
    factories.user("gone", is_active=False)
    expected = "is invited. They join once they accept; nobody is told whether such an account exists"
    client = signed_in(cast.alice)
    html = client.post(PAGE, {"username": name, "role": "viewer"}, follow=True).content.decode()
    assert f"{name} {expected}" in html and "Withdraw" in html
    assert "is invited already" in client.post(PAGE, {"username": name, "role": "viewer"}).content.decode()
    Invitation.objects.all().delete()
    answer = send(cast.alice, "post", REST, {"username": name})
    told = answer.json()
    assert (answer.status_code, told.pop("username"), told.pop("role")) == (201, name, "viewer")
    assert set(told) == {"id", "invited_by", "created_at", "expires_at"}
    assert (name == "charlie") == bool(shown_to(cast.charlie))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"username": "bob", "role": "viewer"}, "bob is a member already"),
        ({"username": "charlie", "role": "king"}, "This is not offered here"),
        ({"username": "", "role": "viewer"}, "This is needed"),
        ({"username": "a b", "role": "viewer"}, "Enter a valid username"),
        ({"username": "a\0b", "role": "viewer"}, "This holds a control character"),
    ],
)
def test_what_can_be_no_invitation_is_refused_at_its_field(cast: Cast, values: dict[str, str], said: str) -> None:
    response = signed_in(cast.alice).post(PAGE, values)
    assert response.status_code == 200
    assert said in response.content.decode()
    answer = send(cast.alice, "post", REST, values)
    assert answer.status_code == 400
    assert set(answer.json()["fields"]) <= {"username", "role"}
    assert not Invitation.objects.exists()


def test_only_managers_invite_see_who_is_invited_and_withdraw(cast: Cast) -> None:
    row = invited(cast)
    for person, refusal, status in ((cast.oscar, PermissionDenied, 403), (cast.bob, PermissionDenied, 403),
                                    (cast.charlie, Http404, 404)):  # fmt: skip
        with pytest.raises(refusal):
            invited(cast, "dana", user=person)
        with pytest.raises(refusal):
            invitations.withdraw(invitation=row, user=person, now=timezone.now())
        for method, path in (
            ("get", REST),
            ("post", REST),
            ("get", f"{REST}{row.pk}/"),
            ("delete", f"{REST}{row.pk}/"),
        ):
            assert send(person, method, path, {"username": "dana"}).status_code == status
        client = signed_in(person)
        assert client.post(f"{PAGE}{row.pk}/withdraw/").status_code == status
        assert client.post(PAGE, {"username": "dana", "role": "viewer"}).status_code == status
    assert "charlie" not in signed_in(cast.bob).get("/accounts/teams/grid/").content.decode()
    assert send(None, "get", REST).status_code == 401 and send(None, "get", "invitations/").status_code == 401
    assert Invitation.objects.get() == row


def test_an_invitation_is_for_one_person_to_the_letter(cast: Cast) -> None:
    row = invited(cast)
    twin = factories.user("charlie2")
    for person in (twin, cast.alice, cast.bob):
        with pytest.raises(Invitation.DoesNotExist):
            invitations.accept(invitation=row, user=person, now=timezone.now())
        with pytest.raises(Invitation.DoesNotExist):
            invitations.decline(invitation=row, user=person, now=timezone.now())
        client = signed_in(person)
        assert client.post(f"/accounts/invitations/{row.pk}/accept/").status_code == 404
        assert client.post(f"/accounts/invitations/{row.pk}/decline/").status_code == 404
        for action in ("accept/", "decline/"):
            assert send(person, "post", f"invitations/{row.pk}/{action}").status_code == 404
        assert send(person, "get", "invitations/").json()["count"] == 0
    assert Invitation.objects.get().declined_at is None


def test_the_person_sees_the_team_its_short_name_the_role_and_who_invites(cast: Cast) -> None:
    row = invited(cast)
    client = signed_in(cast.charlie)
    assert "A team invites you" in client.get("/accounts/profile/").content.decode()
    html = client.get("/accounts/invitations/").content.decode()
    assert all(text in html for text in ("<code>grid</code>", "alice", "Operator"))
    told = send(cast.charlie, "get", "invitations/").json()["results"][0]
    assert (told["team"], told["team_name"], told["role"], told["invited_by"]) == (
        "grid",
        "grid",
        "operator",
        "alice",
    )
    assert (
        "Decline the invitation of grid?" in client.get(f"/accounts/invitations/{row.pk}/decline/").content.decode()
    )
    html = client.post(f"/accounts/invitations/{row.pk}/accept/", follow=True).content.decode()
    assert "You are now a member of grid" in html and "A team invites you" not in html


def test_it_is_accepted_and_declined_over_rest(cast: Cast) -> None:
    answer = send(cast.charlie, "post", f"invitations/{invited(cast).pk}/accept/")
    assert answer.status_code == 201
    assert (answer.json()["team"], answer.json()["username"]) == ("grid", "charlie")
    dana = factories.user("dana")
    row = invited(cast, "dana")
    assert send(dana, "post", f"invitations/{row.pk}/decline/").status_code == 204
    assert send(dana, "post", f"invitations/{row.pk}/accept/").status_code == 404
    assert "dana" not in in_grid(cast)
    header = factories.bearer(dana, scope="read")
    assert Client().post(f"/api/v1/invitations/{row.pk}/accept/", **header).status_code == 403


def test_who_declined_is_spared_for_a_week_and_the_team_learns_nothing(cast: Cast) -> None:
    now = timezone.now()
    row = invited(cast)
    invitations.decline(invitation=row, user=cast.charlie, now=now)
    assert shown_to(cast.charlie) == []
    team_sees = send(cast.alice, "get", REST).json()["results"]
    assert [item["id"] for item in team_sees] == [row.pk]
    assert send(cast.alice, "delete", f"{REST}{row.pk}/").status_code == 204
    assert send(cast.alice, "get", f"{REST}{row.pk}/").status_code == 404
    again = invited(cast)
    assert shown_to(cast.charlie) == []
    with pytest.raises(Invitation.DoesNotExist):
        invitations.accept(invitation=again, user=cast.charlie, now=now)
    invitations.withdraw(invitation=again, user=cast.alice, now=now)
    invited(cast, now=now + timedelta(days=8))
    assert shown_to(cast.charlie) == ["grid"]


def test_one_that_is_withdrawn_or_old_is_not_accepted(cast: Cast) -> None:
    row = invited(cast)
    with pytest.raises(Invitation.DoesNotExist):
        invitations.accept(invitation=row, user=cast.charlie, now=timezone.now() + timedelta(days=31))
    invitations.withdraw(invitation=row, user=cast.alice, now=timezone.now())
    with pytest.raises(Invitation.DoesNotExist):
        invitations.accept(invitation=row, user=cast.charlie, now=timezone.now())
    row = invited(cast)
    assert signed_in(cast.alice).post(f"{PAGE}{row.pk}/withdraw/", follow=True).status_code == 200
    assert signed_in(cast.charlie).post(f"/accounts/invitations/{row.pk}/accept/").status_code == 404
    assert "charlie" not in in_grid(cast)


def test_what_is_over_is_forgotten_and_who_declined_late_is_spared_all_the_same(cast: Cast) -> None:
    now = timezone.now()
    old, fresh, spared, taken_back = (invited(cast, name) for name in ("old", "fresh", "charlie", "dana"))
    Invitation.objects.exclude(pk=fresh.pk).update(created_at=now - timedelta(days=31))
    Invitation.objects.filter(pk=spared.pk).update(declined_at=now - timedelta(days=2))
    Invitation.objects.filter(pk=taken_back.pk).update(
        created_at=now, declined_at=now - timedelta(days=8), withdrawn_at=now
    )
    invitations.forget(now=now)
    assert set(Invitation.objects.all()) == {fresh, spared}
    invitations.forget(now=now + timedelta(days=6))
    assert Invitation.objects.get() == fresh
    assert old.pk != fresh.pk


def test_neither_a_team_nor_a_person_floods_others(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "MOST_INVITATIONS", 2)
    first = invited(cast, "one")
    invited(cast, "two")
    with pytest.raises(ConflictError, match="grid has 2 invitations open"):
        invited(cast, "three", user=factories.user("root", is_superuser=True))
    with pytest.raises(ConflictError, match="You have 2 invitations open"):
        invited(cast, team=factories.team("second", manager=cast.alice))
    assert send(cast.alice, "post", REST, {"username": "three"}).status_code == 409
    invitations.withdraw(invitation=first, user=cast.alice, now=timezone.now())
    invited(cast, "three")


def test_a_member_by_another_way_keeps_the_role(cast: Cast) -> None:
    row = invited(cast)
    Membership.objects.create(team=cast.team, user=cast.charlie, role=Role.VIEWER)
    assert invitations.accept(invitation=row, user=cast.charlie, now=timezone.now()).role == Role.VIEWER
    with pytest.raises(ValidationError, match="is a member already"):
        invited(cast)


def test_the_notice_costs_no_query_and_the_lists_few(
    cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries, django_assert_num_queries: Any
) -> None:
    client = signed_in(cast.charlie)
    for number in range(20):
        team = factories.team(f"t{number}", manager=factories.user(f"m{number}"))
        Invitation.objects.create(team=team, username="charlie", invited_by=team.members.get())
    # The session, the person, their teams, the rows.
    with django_assert_num_queries(4):
        assert "t7" in client.get("/accounts/invitations/").content.decode()
    header = factories.bearer(cast.charlie)
    client.get("/api/v1/me/", **header)
    with django_assert_max_num_queries(5):
        assert client.get("/api/v1/invitations/?page_size=100", **header).json()["count"] == 20


def test_one_of_who_no_longer_manages_is_refused_in_words_on_the_page_and_over_rest(cast: Cast) -> None:
    eve = factories.user("eve")
    own = Membership.objects.create(team=cast.team, user=eve, role=Role.MANAGER)
    row = invited(cast, user=eve, role=Role.MANAGER)
    services.remove_member(membership=own, user=cast.alice)
    answer = send(cast.charlie, "post", f"invitations/{row.pk}/accept/")
    assert (answer.status_code, "does not manage grid any more" in answer.json()["detail"]) == (409, True)
    page = signed_in(cast.charlie).post(f"/accounts/invitations/{row.pk}/accept/", follow=True)
    assert "does not manage grid any more" in page.content.decode()
    assert "charlie" not in in_grid(cast)
