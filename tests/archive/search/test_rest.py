"""The archive over REST."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from apps.archive.models import SavedSearch
from tests import factories
from tests.archive.search.conftest import experiment_of, sites
from tests.campaigns import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("search")]

ARCHIVE = "/api/v1/archive/"


def test_a_search_answers_with_figures_in_base_units(client: Client, archive: SimpleNamespace) -> None:
    key = factories.bearer(archive.cast.bob, scope="read")
    assert client.get(ARCHIVE).status_code in (401, 403)
    query = f"?pair={sites(archive.kisti, archive.pnu)}&metric=goodput:800 Mbit/s.."
    found = client.get(ARCHIVE + query, **key).json()
    assert (found["count"], found["next"]) == (1, None)
    [hit] = found["results"]
    assert hit["experiment"] == experiment_of(archive.windows).pk
    assert hit["permanent_id"] == archive.windows.permanent_id
    assert (hit["nodes"], hit["trials"], hit["tags"]) == ("kisti01 → pnu01", 4, [])
    [figure] = hit["figures"]
    assert figure == {
        "metric": "goodput",
        "unit": "bit/s",
        "n": 4,
        "low": 1.05e8,
        "high": 9.1e8,
        "best": 9.1e8,
        "flagged": 0,
    }
    page = client.get(f"{ARCHIVE}?page_size=2&page=2&sort=name", **key).json()
    assert ([hit["campaign_name"] for hit in page["results"]], page["count"]) == (["Window sweep", "대구 회선"], 4)
    theirs = client.get(ARCHIVE, **factories.bearer(archive.cast.charlie)).json()
    assert [hit["campaign_name"] for hit in theirs["results"]] == ["Theirs"]


def test_what_cannot_be_read_is_refused_by_its_field(client: Client, archive: SimpleNamespace) -> None:
    key = factories.bearer(archive.cast.bob)
    for address in (ARCHIVE, f"{ARCHIVE}facets/"):
        answer = client.get(f"{address}?site=here&metric=colour:1..", **key)
        assert answer.status_code == 400
        assert set(answer.json()["fields"]) == {"site", "metric"}


def test_facets_are_told_with_their_counts(client: Client, archive: SimpleNamespace) -> None:
    found = client.get(f"{ARCHIVE}facets/?q=kisti01", **factories.bearer(archive.cast.bob)).json()
    tools = next(facet for facet in found if facet["name"] == "tool")
    assert [(value["value"], value["count"]) for value in tools["values"]] == [("iperf3-tcp", 3), ("ior", 1)]
    assert tools["rest"] == 0


def test_searches_are_kept_under_names_by_operators(client: Client, archive: SimpleNamespace) -> None:
    address = "/api/v1/saved-searches/"
    body: dict[str, Any] = {"name": "Sweeps", "query": "?q=sweep&sort=newest"}
    writer, reader = factories.bearer(archive.cast.oscar), factories.bearer(archive.cast.bob)
    assert client.post(address, body, content_type="application/json", **reader).status_code == 403
    made = client.post(address, body, content_type="application/json", **writer)
    assert (made.status_code, made.json()["query"], made.json()["url"]) == (201, "q=sweep", "/archive/?q=sweep")
    for wrong, field in (({"name": "Sweeps", "query": "q=x"}, None), ({"name": "B", "query": "site=x"}, "query")):
        answer = client.post(address, wrong, content_type="application/json", **writer)
        assert answer.status_code == 400
        assert field is None or field in answer.json()["fields"]
    one = f"{address}{made.json()['id']}/"
    answer = client.patch(one, {"name": "All sweeps"}, content_type="application/json", **writer)
    assert answer.json()["name"] == "All sweeps"
    stranger = factories.bearer(archive.cast.charlie)
    assert client.get(one, **stranger).status_code == 404
    assert client.delete(one, **writer).status_code == 204
    assert not SavedSearch.objects.exists()


def test_an_experiment_is_told_what_of_it_was_measured_already(client: Client, archive: SimpleNamespace) -> None:
    draft = make.campaign(archive.cast, name="Planned")
    factors = [{"name": "window", "expression": "64KiB, 1MiB, 3MiB"}]
    planned = make.experiment(draft, archive.kisti, archive.pnu, factors=factors)
    address = f"/api/v1/experiments/{planned.pk}/already/"
    found = client.get(address, **factories.bearer(archive.cast.bob)).json()
    assert (found["measured"], found["points"], found["is_all"], found["same_nodes"]) == (2, 3, True, True)
    [earlier] = found["earlier"]
    assert (earlier["campaign"], earlier["points"], earlier["n"]) == (archive.windows.pk, 2, 4)
    assert (earlier["low"], earlier["high"]) == (1.05e8, 9.1e8)
    assert client.get(address, **factories.bearer(archive.cast.charlie)).status_code == 404
