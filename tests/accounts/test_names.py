"""Two teams, or two people, cannot be taken for each other."""

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from apps.accounts import services
from apps.accounts.models import Team, User
from tests import factories
from tests.accounts.test_rest_teams import send
from tests.factories import Cast, signed_in

NOT_FREE = "This name is not free: choose another."
TWINS = ["GRID", " Grid ", "\uff47\uff52\uff49\uff44", "gr\u200bid", "gr\u0456d", "grid\u202e"]


@pytest.mark.parametrize("name", TWINS)
def test_no_team_takes_the_look_of_another_anew_or_by_a_rename(cast: Cast, name: str) -> None:
    with pytest.raises(ValidationError) as caught:
        services.create_team(user=cast.charlie, name=name)
    assert list(caught.value.message_dict) == ["name"]
    with pytest.raises(ValidationError):
        services.update_team(team=cast.other_team, user=cast.charlie, name=name)
    for method, path in (("post", "teams/"), ("patch", "teams/strangers/")):
        answer = send(cast.charlie, method, path, {"name": name})
        assert (answer.status_code, list(answer.json()["fields"])) == (400, ["name"])
    client = signed_in(cast.charlie)
    for path in ("new/", "strangers/edit/"):
        answer = client.post(f"/accounts/teams/{path}", {"name": name})
        assert answer.status_code == 200 and "is-invalid" in answer.content.decode()
    assert set(Team.objects.values_list("name", flat=True)) == {"grid", "strangers"}


def test_nobody_is_told_whose_a_name_is_that_is_not_free(cast: Cast) -> None:
    for values in ({"name": "grid"}, {"name": "GRID"}, {"name": " Gr1d "}):
        answer = send(cast.charlie, "post", "teams/", values)
        assert (answer.status_code, answer.json()["fields"]) == (400, {"name": [NOT_FREE]})
    for slug in ("grid", "new"):
        with pytest.raises(ValidationError) as caught:
            services.create_team(user=cast.charlie, name="Other", slug=slug)
        assert caught.value.message_dict == {"slug": [NOT_FREE]}


def test_a_team_may_change_how_its_own_name_is_written(cast: Cast) -> None:
    services.update_team(team=cast.team, user=cast.alice, name="Grid")
    assert Team.objects.get(pk=cast.team.pk).skeleton == "grld"
    services.update_team(team=cast.team, user=cast.alice, name="KISTI")
    assert services.create_team(user=cast.charlie, name="GRID").skeleton == "grld"


@pytest.mark.parametrize("name", ["ALICE", "\u0430lice", "a\u3164lice", "\u03b1lice"])
def test_no_account_takes_the_look_of_another(cast: Cast, name: str) -> None:
    with pytest.raises(CommandError):
        call_command("create_account", "--username", name, "--team", "grid", "--password", "A good one 12")
    client = signed_in(factories.user("root", is_superuser=True, is_staff=True))
    values = {"username": name, "password1": "A good one 12", "password2": "A good one 12", "usable_password": "true"}
    assert client.post("/admin/accounts/user/add/", values).status_code == 200
    assert User.objects.count() == 5


def test_the_database_holds_to_it_whoever_asks(cast: Cast) -> None:
    for model, values in ((Team, {"name": "GRID", "slug": "other"}), (User, {"username": "ALICE"})):
        with pytest.raises(IntegrityError, match="skeleton"), transaction.atomic():
            model.objects.create(**values)
        with pytest.raises(IntegrityError, match="skeleton"), transaction.atomic():
            model.objects.bulk_create([model(**values)])


def old_names(cast: Cast) -> tuple[Team, User]:
    """Return a team and a person with names that the rule refuses, from before there was one."""
    Team.objects.filter(pk=cast.team.pk).update(name="gr\u0456d\u200b", skeleton="old")
    User.objects.filter(pk=cast.bob.pk).update(username="\u0430dmin2", skeleton="older")
    return Team.objects.get(pk=cast.team.pk), User.objects.get(pk=cast.bob.pk)


def test_an_old_name_hinders_no_other_change(cast: Cast) -> None:
    team, person = old_names(cast)
    client = signed_in(factories.user("root", is_superuser=True, is_staff=True))
    dates = {"date_joined_0": "2026-01-02", "date_joined_1": "03:04:05", "timezone": "UTC", "theme": "auto"}
    path = f"/admin/accounts/user/{person.pk}/change/"
    assert client.post(path, {"username": person.username, "first_name": "Old", **dates}).status_code == 302
    person.refresh_from_db()
    assert (person.is_active, person.first_name) == (False, "Old")
    inline = {"memberships-TOTAL_FORMS": "0", "memberships-INITIAL_FORMS": "0"}
    path = f"/admin/accounts/team/{team.pk}/change/"
    assert client.post(path, {"name": team.name, "slug": "renamed", **inline}).status_code == 302
    names = ("--username", person.username, "--team", team.name)
    call_command("create_account", *names, "--password", "A good one 12")
    person.refresh_from_db()
    assert person.check_password("A good one 12")
    services.update_team(team=Team.objects.get(slug="renamed"), user=cast.alice, name=team.name)
    User.objects.filter(pk=person.pk).update(is_active=True)
    values = {"language": "", "timezone": "UTC", "theme": "dark"}
    assert signed_in(person).post("/accounts/profile/", values).status_code == 302
    assert send(person, "patch", "me/", {"theme": "light"}).status_code == 200


def test_a_changed_name_is_asked_even_where_the_old_was_refused_too(cast: Cast) -> None:
    team, person = old_names(cast)
    client = signed_in(factories.user("root", is_superuser=True, is_staff=True))
    dates = {"date_joined_0": "2026-01-02", "date_joined_1": "03:04:05", "timezone": "UTC", "theme": "auto"}
    path = f"/admin/accounts/user/{person.pk}/change/"
    assert client.post(path, {"username": "\u0430dmin3", **dates}).status_code == 200
    with pytest.raises(ValidationError):
        services.update_team(team=team, user=cast.alice, name="gr\u0456d")
