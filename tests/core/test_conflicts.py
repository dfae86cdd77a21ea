"""What whoever saves later is told of what others saved first: who, when, which fields, and a way to save over it."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.core import editing
from apps.core.models import LastChange
from apps.testbeds.models import Cluster, Node, Site
from tests import factories
from tests.campaigns import factories as make
from tests.pages import flat

pytestmark = pytest.mark.django_db


@pytest.fixture
def site(cast: SimpleNamespace) -> Site:
    return Site.objects.create(team=cast.team, name="Daejeon", place="Daejeon, KR", notes="first")


def signed_in(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def opened(client: Client, address: str) -> dict[str, str]:
    """Return the version that the form at an address carries."""
    page = client.get(address).content.decode()
    [version] = re.findall(rf'name="{editing.VERSION}" value="([^"]+)"', page)
    return {editing.VERSION: version}


def over_in(page: str) -> str:
    [version] = re.findall(rf'name="{editing.OVER}" value="([^"]+)"', flat(page))
    return version


def test_the_second_sees_what_the_first_saved_and_saves_over_it_on_purpose(cast: SimpleNamespace, site: Site) -> None:
    alice, oscar = signed_in(cast.alice), signed_in(cast.oscar)
    address = reverse("testbeds:site_update", args=[site.pk])
    hers, his = opened(alice, address), opened(oscar, address)
    values = {"name": "Daejeon", "place": "Daejeon, KR"}
    assert alice.post(address, values | {"notes": "Alice's <b>"} | hers).status_code == 302
    answer = oscar.post(address, values | {"notes": "Oscar's"} | his)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "alice changed “Daejeon” after you opened it" in page
    assert re.findall(r"<li class=\"text-break\" hx-disable><strong>(\w+)</strong>: (.*?)</li>", page) == [
        ("notes".capitalize(), "Alice&#x27;s &lt;b&gt;")
    ]
    assert "Oscar&#x27;s</textarea>" in page
    site.refresh_from_db()
    assert site.notes == "Alice's <b>"
    # Sent once more as it is, it is refused once more: only the button saves over it.
    assert oscar.post(address, values | {"notes": "Oscar's"} | his).status_code == 409
    # And only over what was shown: not over what a third has saved meanwhile.
    over = {editing.OVER: over_in(page)}
    Site.objects.filter(pk=site.pk).update(place="Yuseong")
    answer = oscar.post(address, values | {"notes": "Oscar's"} | his | over)
    assert answer.status_code == 409 and "Yuseong" in answer.content.decode()
    over = {editing.OVER: over_in(answer.content.decode())}
    assert oscar.post(address, values | {"notes": "Oscar's"} | his | over).status_code == 302
    site.refresh_from_db()
    assert (site.notes, site.place) == ("Oscar's", "Daejeon, KR")


def test_what_was_typed_wrong_is_told_beside_what_others_changed(cast: SimpleNamespace, site: Site) -> None:
    oscar, address = signed_in(cast.oscar), reverse("testbeds:site_update", args=[site.pk])
    his = opened(oscar, address)
    Site.objects.filter(pk=site.pk).update(notes="other")
    answer = oscar.post(address, {"name": "", "notes": "mine"} | his)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "field-wrong" in page and f'name="{editing.OVER}"' in page


def test_what_is_not_in_the_form_does_not_count_and_parts_do(cast: SimpleNamespace, pair: list[Node]) -> None:
    cluster = Cluster.objects.create(team=cast.team, name="c")
    cluster.nodes.set(pair[:1])
    oscar, address = signed_in(cast.oscar), reverse("testbeds:cluster_update", args=[cluster.pk])
    values = {"name": "c", "nodes": pair[0].name}
    his = opened(oscar, address)
    Cluster.objects.filter(pk=cluster.pk).update(updated_at=timezone.now())
    assert oscar.post(address, values | his).status_code == 302
    his = opened(oscar, address)
    cluster.nodes.set(pair)
    answer = oscar.post(address, values | his)
    assert answer.status_code == 409 and pair[1].name in answer.content.decode()
    assert set(cluster.nodes.all()) == set(pair)


def test_a_change_over_rest_is_told_to_who_has_the_form_open(cast: SimpleNamespace, site: Site) -> None:
    oscar, address = signed_in(cast.oscar), reverse("testbeds:site_update", args=[site.pk])
    his = opened(oscar, address)
    bearer = factories.bearer(cast.alice)
    rest = Client().patch(f"/api/v1/sites/{site.pk}/", {"notes": "rest"}, content_type="application/json", **bearer)
    assert rest.status_code == 200
    page = oscar.post(address, {"name": "Daejeon", "notes": "mine"} | his).content.decode()
    assert "alice changed “Daejeon”" in page


def test_tags_of_two_are_asked_about_too(cast: SimpleNamespace) -> None:
    campaign = make.campaign(cast)
    alice = signed_in(cast.alice)
    address = reverse("campaigns:tags", args=[campaign.pk])
    shown = {editing.VERSION: editing.version_of({"tags": []})}
    assert b"red" in alice.post(address, {"tags": "red"} | shown).content
    page = alice.post(address, {"tags": "blue"} | shown).content.decode()
    assert "blue</textarea>" in page
    campaign.refresh_from_db()
    assert campaign.tags == ["red"]
    alice.post(address, {"tags": "blue", editing.OVER: over_in(page)} | shown)
    campaign.refresh_from_db()
    assert campaign.tags == ["blue"]


def test_there_is_one_row_for_the_last_change_of_a_thing(cast: SimpleNamespace, site: Site) -> None:
    for name in ("alice", "oscar"):
        editing.note_change(site, name)
    assert LastChange.objects.get().username == "oscar"
    assert editing.last_change_of(site).username == "oscar"


def test_nonsense_for_a_version_is_a_conflict_and_no_error(cast: SimpleNamespace, site: Site) -> None:
    oscar, address = signed_in(cast.oscar), reverse("testbeds:site_update", args=[site.pk])
    for version in ("x", "==", "notes", " = = ", "name=\x00", "x" * 60_000):
        answer = oscar.post(address, {"name": "Daejeon", "notes": "n", editing.VERSION: version})
        assert answer.status_code == 409, version
    site.refresh_from_db()
    assert site.notes == "first"
