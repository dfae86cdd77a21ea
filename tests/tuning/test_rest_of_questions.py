"""Layers between sites, the fit of a workload and predictions over REST: what they tell, and to whom."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from apps.campaigns.models import Campaign
from apps.testbeds.models import FileSystem, Site
from tests import factories
from tests.tuning import published

WORKLOAD = {"pattern": "write", "file_size": "4 GiB", "nodes": "9"}


def post(client: Client, address: str, headers: dict[str, str], body: Any) -> Any:
    return client.post(address, json.dumps(body), "application/json", **headers)


@pytest.fixture
def layers(cast: SimpleNamespace) -> str:
    """Return the address of the layers between the sites of the published figures of the polarised writes."""
    published.load(cast.team, published.case("pdaisy-server-polarised"))
    a, b = (Site.objects.get(team=cast.team, name=name).pk for name in ("KISTI", "PNU"))
    return f"/api/v1/site-layers/{a}/{b}/"


def test_layers_are_told_and_what_they_lack_becomes_a_draft(
    client: Client, cast: SimpleNamespace, layers: str, django_assert_max_num_queries: Any
) -> None:
    headers = factories.bearer(cast.oscar)
    pairs = client.get("/api/v1/site-layers/", **headers).json()["results"]
    assert layers in [f"/api/v1/site-layers/{pair['a']['id']}/{pair['b']['id']}/" for pair in pairs]
    with django_assert_max_num_queries(32):
        told = client.get(layers, **headers).json()
    faulty = next(table for table in told["tables"] if table["layer"] == "file-system" and table["alternatives"])
    assert {"network", "disk", "file-system"} <= {row["layer"] for row in faulty["rows"]}
    assert [row["is_limit"] for row in faulty["rows"] if row["is_question"]] == [True]
    assert "%(" not in json.dumps([faulty["verdict"], faulty["missing"], told["findings"][0]["why"]])
    place = next(place for place, table in enumerate(told["tables"]) if table["proposals"])
    made = post(client, f"{layers}draft/", headers, {"table": place})
    assert (made.status_code, made.json()["state"]) == (201, "draft")
    drafted = Campaign.objects.get(pk=made.json()["id"])
    assert drafted.experiments.count() == len(told["tables"][place]["proposals"])
    for wrong in (999, -1, "x", None):
        refused = post(client, f"{layers}draft/", headers, {"table": wrong})
        assert (refused.status_code, list(refused.json()["fields"])) == (400, ["table"])
    strangers = factories.bearer(cast.charlie)
    assert client.get(layers).status_code == 401
    assert client.get(layers, **strangers).status_code == 404
    assert client.get("/api/v1/site-layers/", **strangers).json()["results"] == []
    assert post(client, f"{layers}draft/", strangers, {"table": place}).status_code == 404
    assert post(client, f"{layers}draft/", factories.bearer(cast.bob), {"table": place}).status_code == 403


def test_a_workloads_fits_are_told_and_measured(
    client: Client, cast: SimpleNamespace, django_assert_max_num_queries: Any
) -> None:
    published.load(cast.team, published.case("write-grows-with-tasks"))
    address, headers = "/api/v1/workload/", factories.bearer(cast.bob)
    with django_assert_max_num_queries(30):
        [best, *_rest] = client.get(address, {**WORKLOAD, "wanted": "90 MB/s", "total": 2**40}, **headers).json()
    assert best["rate"] == pytest.approx(101e6, rel=0.1)
    assert best["seconds"] == pytest.approx(2**40 / best["rate"])
    fits = client.get(address, {**WORKLOAD, "nodes": 2}, **headers).json()
    place = next(place for place, fit in enumerate(fits) if fit["proposal"])
    wish = {**WORKLOAD, "nodes": 2, "fit": place}
    assert post(client, f"{address}draft/", headers, wish).status_code == 403
    made = post(client, f"{address}draft/", factories.bearer(cast.oscar), wish)
    assert (made.status_code, made.json()["state"]) == (201, "draft")
    gone = post(client, f"{address}draft/", factories.bearer(cast.oscar), {**wish, "fit": 99})
    assert (gone.status_code, list(gone.json()["fields"])) == (400, ["fit"])
    assert client.get(address, WORKLOAD).status_code == 401
    stranger = client.get(address, {**WORKLOAD, "team": cast.team.slug}, **factories.bearer(cast.charlie))
    assert (stranger.status_code, list(stranger.json()["fields"])) == (400, ["team"])
    other = factories.team("Elsewhere", viewer=cast.bob)
    theirs = FileSystem.objects.create(team=other, name="theirs", kind="nfs", mount_path="/theirs")
    for field, text in (
        ("file_size", ""), ("file_size", "0"), ("file_size", "9999999999999 TiB"), ("nodes", "0"), ("tasks", "x"),
        ("pattern", "sideways"), ("wanted", "fast"), ("file_system", "999"), ("file_system", str(theirs.pk)),
    ):  # fmt: skip
        answer = client.get(address, {**WORKLOAD, "team": cast.team.slug, field: text}, **headers)
        assert (answer.status_code, list(answer.json()["fields"])) == (400, [field]), (field, text)


def test_a_window_between_two_is_predicted(
    client: Client, cast: SimpleNamespace, swept: Campaign, django_assert_max_num_queries: Any
) -> None:
    experiment, ping = swept.experiments.get(tool="iperf3-tcp"), swept.experiments.get(tool="ping")
    address, headers = f"/api/v1/experiments/{experiment.pk}/prediction/", factories.bearer(cast.bob)
    with django_assert_max_num_queries(32):
        told = client.get(address, {"window": "192 KiB"}, **headers).json()
    assert told["value"] == pytest.approx(410e6, rel=0.1)
    assert told["low"] < told["value"] < told["high"]
    assert (told["metric"], told["unit"], told["measured"], told["beyond"]) == ("goodput", "bit/s", None, [])
    assert [(item["least"], item["most"], item["unit"]) for item in told["ranges"]] == [(65536, 2097152, "B")]
    assert client.get(address, {"window": "16 KiB"}, **headers).json()["beyond"]
    for field, query in (
        ("window", {}), ("window", {"window": "much"}), ("window", {"window": "\0"}),
        ("lane", {"window": "1 MiB", "lane": "0"}), ("metric", {"window": "1 MiB", "metric": "rtt"}),
    ):  # fmt: skip
        answer = client.get(address, query, **headers)
        assert (answer.status_code, list(answer.json()["fields"])) == (400, [field]), query
    nothing = client.get(f"/api/v1/experiments/{ping.pk}/prediction/", **headers)
    assert (nothing.status_code, nothing.json()["fields"]) == (400, {})
    assert "One setting was measured" in nothing.json()["detail"]
    assert client.get(address, {"window": "1 MiB"}).status_code == 401
    assert client.get(address, {"window": "1 MiB"}, **factories.bearer(cast.charlie)).status_code == 404
