"""Comparisons are one click from what they compare, and views are kept under a name."""

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from apps.campaigns.models import Campaign
from apps.comparison.models import SavedView
from apps.testbeds.models import FileSystem, Node
from tests import factories
from tests.campaigns import factories as make

QUERY = "set=campaign%3A{}&stat=median"


@pytest.fixture
def view(before: Campaign, cast: SimpleNamespace) -> SavedView:
    query = QUERY.format(before.pk)
    return SavedView.objects.create(team=cast.team, name="Before and after", query=query, created_by=cast.oscar)


def test_campaign_experiment_cluster_and_file_system_lead_to_their_comparison(
    client: Client, before: Campaign, cast: SimpleNamespace, pair: list[Node]
) -> None:
    cluster = make.cluster(cast.team, "Tachyon", *pair)
    system = FileSystem.objects.create(team=cast.team, name="GPFS", kind="gpfs", mount_path="/gpfs")
    experiment = before.experiments.get()
    client.force_login(cast.oscar)
    for page, link in (
        (before.get_absolute_url(), f"set%3Dcampaign%3A{before.pk}"),
        (reverse("results:experiment", args=[experiment.pk]), f"set=experiment%3A{experiment.pk}"),
        (cluster.get_absolute_url(), f"set=cluster%3A{cluster.pk}"),
        (system.get_absolute_url(), f"set=file-system%3A{system.pk}"),
    ):
        assert link in client.get(page).content.decode(), page


def test_an_operator_saves_renames_and_deletes_a_view(
    client: Client, before: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.oscar)
    new = reverse("comparison:view_create")
    answer = client.post(new, {"name": "Mine", "query": QUERY.format(before.pk) + "&chart=line"})
    view = SavedView.objects.get()
    assert (view.name, view.created_by, view.query) == ("Mine", cast.oscar, QUERY.format(before.pk))
    assert answer["Location"] == view.get_absolute_url()
    assert client.get(view.get_absolute_url()).status_code == 200
    client.post(reverse("comparison:view_update", args=[view.pk]), {"name": "Yours", "query": view.query})
    assert "Yours" in client.get(reverse("comparison:view_list")).content.decode()
    client.post(reverse("comparison:view_delete", args=[view.pk]))
    assert not SavedView.objects.exists()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"name": "", "query": QUERY.format(1)}, "This is needed"),
        ({"name": "Before and after", "query": QUERY.format(1)}, "choose another name"),
        ({"name": "x", "query": ""}, "This is needed"),
        ({"name": "x", "query": "stat=mean"}, "the view has no set"),
        ({"name": "x", "query": "set=nonsense"}, "no part of a set"),
    ],
)
def test_a_view_that_cannot_be_kept_says_why(
    client: Client, view: SavedView, cast: SimpleNamespace, fields: dict, says: str
) -> None:
    client.force_login(cast.oscar)
    assert says in client.post(reverse("comparison:view_create"), fields).content.decode()
    assert SavedView.objects.count() == 1


def test_viewers_see_views_and_strangers_do_not(client: Client, view: SavedView, cast: SimpleNamespace) -> None:
    changes = [reverse("comparison:view_create")]
    changes += [reverse(f"comparison:view_{action}", args=[view.pk]) for action in ("update", "delete")]
    pages = [reverse("comparison:view_list"), *changes]
    for page in pages:
        assert client.get(page).status_code == 302
    client.force_login(cast.bob)
    assert "Before and after" in client.get(pages[0]).content.decode()
    assert [client.get(page).status_code for page in changes] == [403, 403, 403]
    client.force_login(cast.charlie)
    assert "Before and after" not in client.get(pages[0]).content.decode()
    assert [client.get(page).status_code for page in changes[1:]] == [404, 404]


def test_rest_compares_for_the_viewer_only(client: Client, before: Campaign, cast: SimpleNamespace) -> None:
    path = f"/api/v1/comparison/?set=campaign:{before.pk}&x=window&fix=streams:2"
    assert client.get(path).status_code == 401
    assert client.get(path, **factories.bearer(cast.charlie)).json()["rows"] == []
    body = client.get(path, **factories.bearer(cast.bob, scope="read")).json()
    assert [row["x"] for row in body["rows"]] == [65536, 131072, 262144, 524288]
    assert (body["unit"], body["fixed"], body["statistic"]) == ("bit/s", {"streams": "2"}, "arithmetic mean")


@pytest.mark.parametrize(("query", "field"), [("", "set"), ("set=x", "set.0"), ("set=campaign:1&stat=mode", "stat")])
def test_rest_names_what_is_wrong(client: Client, cast: SimpleNamespace, query: str, field: str) -> None:
    answer = client.get(f"/api/v1/comparison/?{query}", **factories.bearer(cast.bob))
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == [field]


def test_views_over_rest(client: Client, view: SavedView, cast: SimpleNamespace) -> None:
    path, one = "/api/v1/saved-views/", f"/api/v1/saved-views/{view.pk}/"
    oscar, bob, charlie = (factories.bearer(person) for person in (cast.oscar, cast.bob, cast.charlie))
    assert client.get(path).status_code == 401
    assert client.get(path, **charlie).json()["count"] == 0
    assert client.get(path, **bob).json()["results"][0]["url"] == view.get_absolute_url()
    body = {"name": "Other", "query": view.query}
    assert client.post(path, body, content_type="application/json", **bob).status_code == 403
    made = client.post(path, body, content_type="application/json", **oscar)
    assert (made.status_code, made.json()["created_by"]) == (201, "oscar")
    again = client.post(path, body, content_type="application/json", **oscar)
    assert again.status_code == 400
    assert client.patch(one, {"name": "Other"}, content_type="application/json", **oscar).status_code == 400
    assert client.patch(one, {"query": "x"}, content_type="application/json", **oscar).json()["fields"].keys() == {
        "query"
    }
    assert client.delete(one, **charlie).status_code == 404
    assert client.delete(one, **bob).status_code == 403
    assert client.delete(one, **oscar).status_code == 204
