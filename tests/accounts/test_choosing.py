"""Where new work lands that names no team: by the person's own choice or history, never by another's doing."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts import invitations, services, team_choice
from apps.accounts.models import Membership, Role, Team, User
from apps.testbeds.models import Site
from tests import factories
from tests.accounts.test_rest_teams import send
from tests.factories import Cast, signed_in

FORMS = [
    "/inventory/sites/new/", "/campaigns/new/", "/campaigns/templates/window-sweep/", "/imports/new/",
    "/exports/archives/", "/published/import/", "/inventory/import/", "/tools/import/", "/tools/new/",
]  # fmt: skip


def joined(team: Team, person: User, *, days_ago: int, role: Role = Role.MANAGER) -> Membership:
    """Return a membership that began so many days ago."""
    membership, _new = Membership.objects.update_or_create(team=team, user=person, defaults={"role": role})
    Membership.objects.filter(pk=membership.pk).update(created_at=timezone.now() - timedelta(days=days_ago))
    return membership


@pytest.fixture
def lured(cast: Cast) -> Team:
    """Return a stranger's team that sorts first by name, into which Alice has accepted an invitation."""
    joined(cast.team, cast.alice, days_ago=9)
    team = factories.team("aaa", manager=cast.charlie)
    invitation = invitations.invite(
        team=team, user=cast.charlie, username="alice", role=Role.MANAGER, now=timezone.now()
    )
    invitations.accept(invitation=invitation, user=cast.alice, now=timezone.now())
    return team


def test_it_is_the_oldest_membership_whatever_teams_are_called(cast: Cast, lured: Team) -> None:
    assert team_choice.usual_team(cast.alice) == cast.team
    joined(lured, cast.alice, days_ago=10)
    assert team_choice.usual_team(cast.alice) == lured


def test_a_choice_beats_it_as_long_as_the_role_allows(cast: Cast, lured: Team) -> None:
    cast.alice.default_team = lured
    assert team_choice.usual_team(cast.alice) == lured
    assert team_choice.usual_team(factories.user("dana")) is None


@pytest.mark.parametrize("is_chosen", [True, False])
def test_who_may_only_read_there_now_is_refused_and_sent_nowhere_else(
    cast: Cast, lured: Team, is_chosen: bool
) -> None:
    usual, other = (lured, cast.team) if is_chosen else (cast.team, lured)
    User.objects.filter(pk=cast.alice.pk).update(default_team=lured if is_chosen else None)
    Membership.objects.filter(user=cast.alice, team=usual).update(role=Role.VIEWER)
    cast.alice.refresh_from_db()
    answer, client = send(cast.alice, "post", "sites/", {"name": "Busan"}), signed_in(cast.alice)
    assert (answer.status_code, f"only read in {usual.slug}: name" in answer.json()["detail"]) == (403, True)
    assert send(cast.alice, "post", "sites/", {"name": "Busan", "team": other.slug}).status_code == 201
    for address in FORMS:
        html = client.get(address).content.decode()
        assert "into " + other.slug not in html and not re.search(
            r'<option value="[^"]+" selected>\s*\w+( \(|<)', html
        )
        assert f"?team={other.slug}" in html or "Choose a team" in html, address
    assert client.post("/inventory/sites/new/", {"name": "Seoul"}).status_code == 403
    assert client.post(f"/inventory/sites/new/?team={other.slug}", {"name": "Seoul"}).status_code == 302
    assert {site.team for site in Site.objects.all()} == {other}


def test_who_leaves_a_team_has_chosen_it_no_longer(cast: Cast, lured: Team) -> None:
    User.objects.filter(pk=cast.alice.pk).update(default_team=lured)
    services.remove_member(membership=Membership.objects.get(team=lured, user=cast.alice), user=cast.alice)
    cast.alice.refresh_from_db()
    assert cast.alice.default_team is None


def test_who_is_removed_from_the_team_they_chose_is_asked_for_another(cast: Cast, lured: Team) -> None:
    User.objects.filter(pk=cast.alice.pk).update(default_team=lured)
    services.remove_member(membership=Membership.objects.get(team=lured, user=cast.alice), user=cast.charlie)
    cast.alice.refresh_from_db()
    for path, body in (("sites/", {"name": "Busan"}), ("campaigns/", {"name": "Sweep"})):
        refused = send(cast.alice, "post", path, body)
        assert (refused.status_code, "no longer in the team" in refused.json()["detail"]) == (403, True)
        assert send(cast.alice, "post", path, body | {"team": "grid"}).status_code == 201
    html = signed_in(cast.alice).get("/campaigns/new/").content.decode()
    assert "?team=grid" in html and "no longer in the team" in html
    # To read is no new work, and whoever chooses again writes there.
    assert signed_in(cast.alice).get("/inventory/").status_code == 200
    assert send(cast.alice, "patch", "me/", {"default_team": None}).status_code == 200
    assert send(cast.alice, "post", "sites/", {"name": "Jeju"}).json()["team"] == "grid"


def test_new_work_stays_out_of_the_stranger_s_team(cast: Cast, lured: Team) -> None:
    client = signed_in(cast.alice)
    assert client.post("/inventory/sites/new/", {"name": "Seoul"}).status_code == 302
    assert Site.objects.get(name="Seoul").team == cast.team
    assert send(cast.alice, "post", "sites/", {"name": "Busan"}).json()["team"] == cast.team.slug
    # Having worked there once changes nothing either.
    assert client.post(f"/inventory/sites/new/?team={lured.slug}", {"name": "Jeju"}).status_code == 302
    assert client.post("/inventory/sites/new/", {"name": "Ulsan"}).status_code == 302
    assert Site.objects.get(name="Ulsan").team == cast.team


@pytest.mark.parametrize("address", FORMS)
def test_every_form_that_makes_something_says_in_which_team(cast: Cast, lured: Team, address: str) -> None:
    joined(cast.team, cast.oscar, days_ago=3)
    html = signed_in(cast.alice).get(address).content.decode()
    assert re.search(r'<option value="[^"]*" selected>\s*grid|into grid', html)
    assert address.startswith("/tools/") or "grid" in signed_in(cast.oscar).get(address).content.decode()


def test_the_choice_is_made_on_ones_page_and_over_rest(cast: Cast, lured: Team, client: Client) -> None:
    client.force_login(cast.alice)
    values: dict[str, Any] = {"language": "", "timezone": "UTC", "theme": "auto", "default_team": lured.pk}
    assert client.post("/accounts/profile/", values).status_code == 302
    assert send(cast.alice, "get", "me/").json()["default_team"] == "aaa"
    assert send(cast.alice, "post", "sites/", {"name": "Busan"}).json()["team"] == "aaa"
    assert send(cast.alice, "patch", "me/", {"default_team": "grid"}).json()["default_team"] == "grid"
    assert send(cast.alice, "post", "sites/", {"name": "Daegu"}).json()["team"] == "grid"
    assert send(cast.alice, "patch", "me/", {"default_team": None}).json()["default_team"] is None
    refused = client.post("/accounts/profile/", values | {"default_team": cast.other_team.pk})
    assert refused.status_code == 200 and "strangers" not in refused.content.decode()
    assert list(send(cast.alice, "patch", "me/", {"default_team": "strangers"}).json()["fields"]) == ["default_team"]


def test_saving_the_profile_keeps_a_choice_that_only_may_be_read_now(cast: Cast, lured: Team) -> None:
    User.objects.filter(pk=cast.alice.pk).update(default_team=lured)
    Membership.objects.filter(user=cast.alice, team=lured).update(role=Role.VIEWER)
    client = signed_in(cast.alice)
    assert f'<option value="{lured.pk}" selected>' in client.get("/accounts/profile/").content.decode()
    values: dict[str, Any] = {"language": "", "timezone": "UTC", "theme": "dark", "default_team": lured.pk}
    assert client.post("/accounts/profile/", values).status_code == 302
    assert send(cast.alice, "post", "sites/", {"name": "Busan"}).status_code == 403


def test_the_administrator_and_the_reader_of_all_their_teams(cast: Cast) -> None:
    root = factories.user("root", is_superuser=True)
    assert team_choice.usual_team(root) == cast.team
    assert send(root, "post", "sites/", {"name": "Busan", "team": "strangers"}).json()["team"] == "strangers"
    joined(cast.other_team, root, days_ago=1, role=Role.VIEWER)
    assert send(root, "post", "sites/", {"name": "Seoul"}).json()["team"] == "strangers"
    refused = send(cast.bob, "post", "sites/", {"name": "Seoul"})
    assert (refused.status_code, "any team" in refused.json()["detail"]) == (403, True)
