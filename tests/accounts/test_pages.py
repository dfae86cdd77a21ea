"""The base of every page over a team's things, tried on sites."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import Membership, Role, User
from apps.testbeds import models as testbeds
from tests import factories
from tests.factories import Cast, signed_in

pytestmark = pytest.mark.urls("tests.accounts.probe")


@pytest.fixture
def site(cast: Cast) -> testbeds.Site:
    return testbeds.Site.objects.create(team=cast.team, name="KISTI", place="Daejeon")


def test_a_stranger_is_asked_to_sign_in_everywhere(site: testbeds.Site, client: Client) -> None:
    for path in ("", "new/", f"{site.pk}/", f"{site.pk}/edit/", f"{site.pk}/clone/", f"{site.pk}/delete/"):
        response = client.get(f"/probe/{path}")
        assert (response.status_code, response.url) == (302, f"/accounts/login/?next=/probe/{path}")
    for path in ("new/", f"{site.pk}/edit/", f"{site.pk}/clone/", f"{site.pk}/delete/"):
        assert client.post(f"/probe/{path}", {"name": "x"}).status_code == 302
    assert testbeds.Site.objects.get() == site


def test_another_teams_things_do_not_exist(cast: Cast, site: testbeds.Site) -> None:
    client = signed_in(cast.charlie)
    assert "KISTI" not in client.get("/probe/").content.decode()
    assert client.get(f"/probe/{site.pk}/").status_code == 404
    for action in ("edit", "clone", "delete"):
        assert client.get(f"/probe/{site.pk}/{action}/").status_code == 404
        assert client.post(f"/probe/{site.pk}/{action}/", {"name": "x"}).status_code == 404
    assert client.get("/probe/new/?team=grid").status_code == 404
    assert client.post("/probe/new/?team=grid", {"name": "x"}).status_code == 404
    assert testbeds.Site.objects.get().name == "KISTI"


def test_a_viewer_sees_and_changes_nothing(cast: Cast, site: testbeds.Site) -> None:
    client = signed_in(cast.bob)
    html = client.get("/probe/").content.decode()
    assert "KISTI" in html
    assert "New site" not in html
    response = client.get(f"/probe/{site.pk}/")
    assert response.status_code == 200
    assert not response.context["can_write"]
    assert not response.context["can_delete"]
    for action in ("edit", "clone", "delete"):
        assert client.get(f"/probe/{site.pk}/{action}/").status_code == 403
        assert client.post(f"/probe/{site.pk}/{action}/", {"name": "x"}).status_code == 403
    assert client.get("/probe/new/").status_code == 403
    assert "Ask a manager" in client.post("/probe/new/", {"name": "x"}).content.decode()
    assert testbeds.Site.objects.get().name == "KISTI"


def test_deleting_may_take_a_higher_role_than_writing(cast: Cast, site: testbeds.Site) -> None:
    client = signed_in(cast.oscar)
    context = client.get(f"/probe/{site.pk}/").context
    assert context["can_write"]
    assert not context["can_delete"]
    assert client.post(f"/probe/{site.pk}/delete/").status_code == 403
    assert signed_in(cast.alice).get(f"/probe/{site.pk}/").context["can_delete"]


def test_a_list_without_rows_says_what_to_do(cast: Cast) -> None:
    html = signed_in(cast.oscar).get("/probe/").content.decode()
    assert "No sites yet" in html
    assert 'href="/probe/new/"' in html
    assert "/probe/new/" not in signed_in(cast.bob).get("/probe/").content.decode()


def test_a_list_is_searched_filtered_and_sorted(cast: Cast, site: testbeds.Site) -> None:
    testbeds.Site.objects.create(team=cast.team, name="Pusan", place="Busan")
    testbeds.Site.objects.create(team=cast.team, name="Apart", place="Daejeon")
    client = signed_in(cast.bob)

    def names(query: str) -> list[str]:
        return [item.name for item in client.get(f"/probe/{query}").context["object_list"]]

    assert names("") == ["Apart", "KISTI", "Pusan"]
    assert names("?q=pus") == ["Pusan"]
    assert names("?q=kis+daej") == ["KISTI"]
    assert names("?q=kis+busan") == []
    assert names("?place=daejeon") == ["Apart", "KISTI"]
    assert names("?sort=-name") == ["Pusan", "KISTI", "Apart"]
    assert names("?sort=password") == ["Apart", "KISTI", "Pusan"]
    assert names("?q=%00") == ["Apart", "KISTI", "Pusan"]
    assert names("?team=g%00rid") == ["Apart", "KISTI", "Pusan"]
    assert "Nothing matches" in client.get("/probe/?q=nowhere").content.decode()


def test_a_list_may_be_of_one_of_several_teams(cast: Cast, site: testbeds.Site) -> None:
    Membership.objects.create(team=cast.other_team, user=cast.alice, role=Role.VIEWER)
    testbeds.Site.objects.create(team=cast.other_team, name="Elsewhere")
    client = signed_in(cast.alice)
    assert len(client.get("/probe/").context["object_list"]) == 2
    response = client.get("/probe/?team=strangers")
    assert [item.name for item in response.context["object_list"]] == ["Elsewhere"]
    assert '<option value="strangers" selected>' in response.content.decode()
    assert not client.get("/probe/?team=nowhere").context["object_list"]


def test_a_long_list_is_paged_and_asks_few_questions(
    cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    testbeds.Site.objects.bulk_create(testbeds.Site(team=cast.team, name=f"s{n:03}") for n in range(120))
    client = signed_in(cast.oscar)
    with django_assert_max_num_queries(8):
        response = client.get("/probe/?page=2&q=s")
    assert len(response.context["object_list"]) == 50
    html = response.content.decode()
    assert "51–100 of 120" in html
    assert "?page=3&amp;q=s" in html
    assert len(client.get("/probe/?page=99").context["object_list"]) == 20
    assert client.get("/probe/?page=x").context["page_obj"].number == 1


def test_an_operator_makes_a_thing_in_their_team(cast: Cast) -> None:
    client = signed_in(cast.oscar)
    assert "New site" in client.get("/probe/new/").content.decode()
    response = client.post("/probe/new/", {"name": "KISTI", "place": "Daejeon"}, follow=True)
    made = testbeds.Site.objects.get()
    assert made.team == cast.team
    assert response.redirect_chain == [(f"/probe/{made.pk}/", 302)]
    assert "Site “KISTI” was created." in response.content.decode()


def test_who_is_in_several_teams_chooses_one(cast: Cast) -> None:
    Membership.objects.create(team=cast.other_team, user=cast.oscar, role=Role.OPERATOR)
    client = signed_in(cast.oscar)
    html = client.get("/probe/new/?team=strangers").content.decode()
    assert '<option value="strangers" selected>' in html
    client.post("/probe/new/?team=strangers", {"name": "There"})
    assert testbeds.Site.objects.get().team == cast.other_team
    assert client.get("/probe/new/?team=nowhere").status_code == 404


def test_a_team_in_which_one_only_looks_on_cannot_be_chosen(cast: Cast) -> None:
    Membership.objects.create(team=cast.other_team, user=cast.oscar, role=Role.VIEWER)
    assert signed_in(cast.oscar).post("/probe/new/?team=strangers", {"name": "x"}).status_code == 403


def test_a_name_the_team_already_uses_is_refused_at_the_field(cast: Cast, site: testbeds.Site) -> None:
    testbeds.Site.objects.create(team=cast.other_team, name="Free")
    client = signed_in(cast.oscar)
    response = client.post("/probe/new/", {"name": "KISTI"})
    assert "grid already has a site called “KISTI”" in response.content.decode()
    assert client.post("/probe/new/", {"name": "Free"}).status_code == 302
    assert "This is needed" in client.post("/probe/new/", {"name": ""}).content.decode()


def test_a_form_offers_only_what_its_team_owns(cast: Cast, site: testbeds.Site) -> None:
    foreign = testbeds.Site.objects.create(team=cast.other_team, name="Foreign")
    client = signed_in(cast.oscar)
    html = client.get("/probe/testbeds/new/").content.decode()
    assert "KISTI" in html
    assert "Foreign" not in html
    response = client.post("/probe/testbeds/new/", {"name": "a", "site": foreign.pk})
    assert "This is not offered here" in response.content.decode()
    assert not testbeds.Testbed.objects.exists()


def test_a_thing_is_changed(cast: Cast, site: testbeds.Site) -> None:
    client = signed_in(cast.oscar)
    assert "Edit KISTI" in client.get(f"/probe/{site.pk}/edit/").content.decode()
    response = client.post(f"/probe/{site.pk}/edit/", {"name": "KISTI", "place": "Seoul"}, follow=True)
    assert "Site “KISTI” was saved." in response.content.decode()
    site.refresh_from_db()
    assert site.place == "Seoul"


def test_a_refused_change_keeps_the_stored_name_in_the_heading(cast: Cast, site: testbeds.Site) -> None:
    response = signed_in(cast.oscar).post(f"/probe/{site.pk}/edit/", {"name": "Other", "place": "the moon"})
    html = response.content.decode()
    assert response.status_code == 200
    assert "Edit KISTI" in html
    assert "Too far." in html
    assert "orbit: Unknown." in html
    site.refresh_from_db()
    assert site.name == "KISTI"


def test_two_writers_at_once_are_told_so(cast: Cast, site: testbeds.Site) -> None:
    response = signed_in(cast.oscar).post(f"/probe/{site.pk}/edit/", {"name": "Other", "place": "here too"})
    assert "Someone changed the same thing at this moment" in response.content.decode()


def test_a_copy_gets_a_name_of_its_own_and_is_then_edited(cast: Cast, site: testbeds.Site) -> None:
    client = signed_in(cast.oscar)
    html = client.get(f"/probe/{site.pk}/clone/").content.decode()
    assert 'value="KISTI (copy)"' in html
    assert "Clone KISTI" in html
    taken = client.post(f"/probe/{site.pk}/clone/", {"name": "KISTI"})
    assert "already has a site called “KISTI”" in taken.content.decode()
    response = client.post(f"/probe/{site.pk}/clone/", {"name": "Second"}, follow=True)
    copy = testbeds.Site.objects.get(name="Second")
    assert response.redirect_chain == [(f"/probe/{copy.pk}/edit/", 302)]
    assert (copy.team, copy.place) == (cast.team, "Daejeon")
    site.refresh_from_db()
    assert site.name == "KISTI"


def test_a_thing_is_deleted_after_asking(cast: Cast, site: testbeds.Site) -> None:
    client = signed_in(cast.alice)
    assert "Delete KISTI?" in client.get(f"/probe/{site.pk}/delete/").content.decode()
    response = client.post(f"/probe/{site.pk}/delete/", follow=True)
    assert response.redirect_chain == [("/probe/", 302)]
    assert "Site “KISTI” was deleted." in response.content.decode()
    assert client.post(f"/probe/{site.pk}/delete/").status_code == 404


def test_what_others_depend_on_is_not_deleted_and_they_are_listed(cast: Cast, site: testbeds.Site) -> None:
    testbeds.Testbed.objects.create(team=cast.team, site=site, name="glory")
    client = signed_in(cast.alice)
    asked = client.get(f"/probe/{site.pk}/delete/")
    assert "testbed: glory" in asked.content.decode()
    assert "There is no undo" not in asked.content.decode()
    response = client.post(f"/probe/{site.pk}/delete/")
    assert response.status_code == 409
    assert "testbed: glory" in response.content.decode()
    assert testbeds.Site.objects.exists()


def test_a_services_refusal_to_delete_is_shown(cast: Cast, site: testbeds.Site) -> None:
    testbeds.Site.objects.update(notes="busy")
    response = signed_in(cast.alice).post(f"/probe/{site.pk}/delete/")
    assert response.status_code == 409
    assert "It is being measured." in response.content.decode()


def test_a_superuser_may_everything(site: testbeds.Site) -> None:
    client = signed_in(factories.user("root", is_superuser=True))
    assert client.post("/probe/new/?team=grid", {"name": "x"}).status_code == 302
    assert client.post(f"/probe/{site.pk}/delete/").status_code == 302


def test_the_team_chosen_for_new_work_is_every_forms(cast: Cast) -> None:
    Membership.objects.create(team=cast.other_team, user=cast.oscar, role=Role.OPERATOR)
    client = signed_in(cast.oscar)
    other = max(cast.team, cast.other_team, key=lambda team: team.name)
    chosen = f'<option value="{other.slug}" selected>'
    forms = ("/campaigns/new/", "/inventory/sites/new/", "/campaigns/templates/window-sweep/", "/inventory/")
    assert all(chosen not in client.get(path).content.decode() for path in forms)
    User.objects.filter(pk=cast.oscar.pk).update(default_team=other)
    for path in forms:
        assert chosen in client.get(path).content.decode(), path
    # Where the role in it is too low now, or gone, another has to be named.
    Membership.objects.filter(user=cast.oscar, team=other).update(role=Role.VIEWER)
    assert f'value="{other.slug}" selected' not in client.get("/campaigns/new/").content.decode()
    Membership.objects.filter(user=cast.oscar, team=other).delete()
    gone = client.get("/campaigns/new/")
    assert gone.status_code == 403 and f"?team={cast.team.slug}" in gone.content.decode()
