"""Lists over REST: filters, search, order, and how many queries they take."""

import pytest
from django.test import Client

from tests import factories as people
from tests.testbeds import factories
from tests.testbeds.rest import ADDRESSES, KINDS, Api
from tests.testbeds.test_pages import MAKERS

pytestmark = pytest.mark.django_db


def test_lists_are_filtered_searched_and_sorted(client: Client) -> None:
    cast = people.cast()
    here = factories.two_sites(cast.team)
    cluster = factories.cluster(cast.team, "c", here.near[0])
    api = Api(client, cast.bob)
    for query, found in (
        ({"name": "KGFS01"}, ["KGFS01"]),
        ({"site": here.near_site.pk}, ["KGFS01", "KGFS02"]),
        ({"testbed": here.far_testbed.pk}, ["PGFS01", "PGFS02"]),
        ({"cluster": cluster.pk}, ["KGFS01"]),
        ({"address": "10.0.2.2"}, ["PGFS02"]),
        ({"search": "pgfs"}, ["PGFS01", "PGFS02"]),
        ({"ordering": "-name", "page_size": 1}, ["PGFS02"]),
    ):
        assert [row["name"] for row in api.get("nodes/", query)["results"]] == found
    links = api.get("links/", {"node": here.near[0].pk})["results"]
    assert [link["name"] for link in links] == ["KGFS01 – KISTI"]
    assert api.get("links/", {"capacity_min": "2 Gbit/s"})["count"] == 2
    assert [row["name"] for row in api.get("clusters/", {"node": here.near[0].pk})["results"]] == ["c"]
    assert "site" in api.get("nodes/", {"site": "999999"}, status=400)["fields"]
    assert "capacity_min" in api.get("links/", {"capacity_min": "much"}, status=400)["fields"]


@pytest.mark.parametrize("kind", KINDS)
def test_lists_take_a_bounded_number_of_queries(client: Client, kind: str, django_assert_max_num_queries) -> None:
    cast = people.cast()
    for number in range(12):
        MAKERS[kind](cast.team, f"item{number}")
    api = Api(client, cast.bob)
    with django_assert_max_num_queries(8):
        assert api.get(f"{ADDRESSES[kind]}/")["count"] >= 12
