"""The base of every REST view over a team's things, tried on sites."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import Membership, Role, User
from apps.testbeds import models as testbeds
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.urls("tests.accounts.probe")


def send(person: User | None, method: str, path: str, body: Any = None) -> Any:
    client = Client()
    if person:
        client.force_login(person)
    data = (
        {}
        if method == "get"
        else {"data": "" if body is None or method == "delete" else body, "content_type": "application/json"}
    )
    return getattr(client, method)(f"/api/probe/{path}", **data)


@pytest.fixture
def site(cast: Cast) -> testbeds.Site:
    return testbeds.Site.objects.create(team=cast.team, name="KISTI", place="Daejeon")


def test_strangers_get_nothing(site: testbeds.Site) -> None:
    assert send(None, "get", "sites/").status_code == 401
    for method in ("get", "put", "patch", "delete"):
        assert send(None, method, f"sites/{site.pk}/", {"name": "x"}).status_code == 401
    assert send(None, "post", "sites/", {"name": "x"}).status_code == 401


def test_another_teams_things_do_not_exist(cast: Cast, site: testbeds.Site) -> None:
    assert send(cast.charlie, "get", "sites/").json()["count"] == 0
    for method in ("get", "put", "patch", "delete"):
        assert send(cast.charlie, method, f"sites/{site.pk}/", {"name": "x"}).status_code == 404
    assert list(send(cast.charlie, "post", "sites/", {"name": "x", "team": "grid"}).json()["fields"]) == ["team"]
    response = send(cast.charlie, "post", "testbeds/", {"name": "x", "site": site.pk})
    assert list(response.json()["fields"]) == ["site"]


def test_a_viewer_reads_only(cast: Cast, site: testbeds.Site) -> None:
    assert send(cast.bob, "get", f"sites/{site.pk}/").json()["team"] == "grid"
    for method in ("put", "patch", "delete"):
        assert send(cast.bob, method, f"sites/{site.pk}/", {"name": "x"}).status_code == 403
    for body in ({"name": "x"}, {"name": "x", "team": "grid"}):
        assert send(cast.bob, "post", "sites/", body).status_code == 403


def test_an_operator_writes_and_may_not_delete_here(cast: Cast, site: testbeds.Site) -> None:
    response = send(cast.oscar, "post", "sites/", {"name": "Pusan"})
    assert (response.status_code, response.json()["team"]) == (201, "grid")
    assert send(cast.oscar, "patch", f"sites/{site.pk}/", {"place": "Seoul"}).json()["place"] == "Seoul"
    assert send(cast.oscar, "delete", f"sites/{site.pk}/").status_code == 403
    assert send(cast.alice, "delete", f"sites/{site.pk}/").status_code == 204


def test_who_is_in_several_teams_writes_in_the_first_unless_they_name_another(cast: Cast) -> None:
    Membership.objects.create(team=cast.other_team, user=cast.oscar, role=Role.OPERATOR)
    assert send(cast.oscar, "post", "sites/", {"name": "x"}).json()["team"] == "grid"
    assert send(cast.oscar, "post", "sites/", {"name": "x", "team": "strangers"}).json()["team"] == "strangers"


def test_a_thing_stays_in_its_team(cast: Cast, site: testbeds.Site) -> None:
    Membership.objects.create(team=cast.other_team, user=cast.oscar, role=Role.OPERATOR)
    response = send(cast.oscar, "patch", f"sites/{site.pk}/", {"team": "strangers"})
    assert list(response.json()["fields"]) == ["team"]
    assert send(cast.oscar, "patch", f"sites/{site.pk}/", {"team": "grid"}).status_code == 200


def test_what_others_depend_on_is_a_conflict(cast: Cast, site: testbeds.Site) -> None:
    testbeds.Testbed.objects.create(team=cast.team, site=site, name="glory")
    response = send(cast.alice, "delete", f"sites/{site.pk}/")
    assert response.status_code == 409
    assert response.json()["dependents"] == ["testbed: glory"]


@pytest.mark.django_db(transaction=True)
def test_two_of_one_name_are_a_conflict_and_no_500() -> None:
    cast = factories.cast()
    testbeds.Site.objects.create(team=cast.team, name="KISTI")
    response = send(cast.oscar, "post", "sites/", {"name": "KISTI", "team": "grid"})
    assert response.status_code == 409
    assert "Someone changed the same thing" in response.json()["detail"]
    assert testbeds.Site.objects.count() == 1


def test_a_path_to_the_team_goes_through_other_rows(cast: Cast, site: testbeds.Site) -> None:
    made = testbeds.Testbed.objects.create(team=cast.team, site=site, name="glory")
    assert send(cast.bob, "get", f"testbeds/{made.pk}/").status_code == 200
    assert send(cast.bob, "patch", f"testbeds/{made.pk}/", {"name": "x"}).status_code == 403
    assert send(cast.charlie, "get", f"testbeds/{made.pk}/").status_code == 404
    assert send(cast.oscar, "patch", f"testbeds/{made.pk}/", {"name": "x"}).json()["name"] == "x"


def test_a_read_only_token_reads_only(cast: Cast, site: testbeds.Site) -> None:
    header = factories.bearer(cast.alice, scope="read")
    assert Client().get("/api/probe/sites/", **header).json()["count"] == 1
    assert Client().post("/api/probe/sites/", {"name": "x"}, **header).status_code == 403
    assert Client().delete(f"/api/probe/sites/{site.pk}/", **header).status_code == 403


def test_odd_numbers_and_words_are_no_500(cast: Cast, site: testbeds.Site) -> None:
    for path in ("sites/99999999999999999999/", "sites/x/", "sites/-1/"):
        assert send(cast.alice, "get", path).status_code == 404
    for query in ("page=0", "page=x", "page_size=-1", "ordering=password", "search=%00"):
        assert send(cast.alice, "get", f"sites/?{query}").status_code in (200, 400, 404)
    for site_id in (99999999999999999999, "x", -1, None, [], {}, True):
        assert send(cast.alice, "post", "testbeds/", {"name": "x", "site": site_id}).status_code == 400


def test_a_list_asks_few_questions(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    testbeds.Site.objects.bulk_create(testbeds.Site(team=cast.team, name=f"s{n}") for n in range(30))
    header = factories.bearer(cast.bob)
    Client().get("/api/probe/sites/", **header)
    with django_assert_max_num_queries(3):
        assert Client().get("/api/probe/sites/", **header).json()["count"] == 30
