"""Pages of lists over REST: each row once, in order, also of a list that is long or grows meanwhile."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.core import pagination, row_sizes
from apps.testbeds.models import Site
from tests import factories as people
from tests.testbeds.rest import Api

pytestmark = pytest.mark.django_db
NAMES = [f"Site {number:02}" for number in range(23)]
SIZE = 5


@pytest.fixture
def api(client: Client) -> Api:
    """Return the client of somebody whose team has 23 sites."""
    cast = people.cast()
    Site.objects.bulk_create(Site(team=cast.team, name=name) for name in NAMES)
    return Api(client, cast.bob)


@pytest.fixture(params=[3, 10_000], ids=["long", "short"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the list count as a long one, and as a short one."""
    monkeypatch.setattr(pagination, "FEW", request.param)


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the list count as a long one."""
    monkeypatch.setattr(pagination, "FEW", 3)


def _pages(api: Api, **query: Any) -> Iterator[list[dict[str, Any]]]:
    for number in range(1, 6):
        answer = api.get("sites/", {"page_size": SIZE, "page": number, **query})
        assert answer["count"] == len(NAMES)
        assert bool(answer["next"]) == (number < 5)
        yield answer["results"]


@pytest.mark.usefixtures("either")
def test_each_row_is_on_one_page(api: Api) -> None:
    for ordering, expected in (("name", NAMES), ("-name", NAMES[::-1]), ("-id", NAMES[::-1])):
        pages = list(_pages(api, ordering=ordering))
        assert [row["name"] for page in pages for row in page] == expected
        assert [len(page) for page in pages] == [5, 5, 5, 5, 3]
        assert api.get("sites/", {"page_size": SIZE, "page": "last", "ordering": ordering})["results"] == pages[-1]
    api.get("sites/", {"page_size": SIZE, "page": 6}, status=404)


@pytest.mark.usefixtures("either")
def test_equals_are_in_the_order_of_their_numbers(api: Api) -> None:
    Site.objects.update(created_at="2026-03-02T10:00Z")
    for ordering in ("created_at", "-created_at"):
        found = [row["id"] for page in _pages(api, ordering=ordering) for row in page]
        assert found == sorted(found)
        assert len(found) == len(NAMES)


@pytest.mark.usefixtures("long")
def test_a_long_list_is_walked_over_by_its_keys_from_the_nearer_end(api: Api) -> None:
    for page, offset in ((2, 5), ("last", 0)):
        with CaptureQueriesContext(connection) as caught:
            api.get("sites/", {"page_size": SIZE, "page": page, "ordering": "name"})
        (walk,) = [query["sql"] for query in caught if f" LIMIT {SIZE if page == 2 else 3}" in query["sql"]]
        assert walk.startswith('SELECT "testbeds_site"."id" AS "pk" FROM "testbeds_site" ')
        assert walk.partition(" OFFSET ")[2] == (str(offset) if offset else "")


@pytest.mark.usefixtures("long")
def test_a_page_near_the_end_is_the_same_while_rows_come(api: Api) -> None:
    paginator = pagination.LongPaginator(Site.objects.order_by("pk"), SIZE)
    assert paginator.count == len(NAMES)
    team = Site.objects.earliest("pk").team
    Site.objects.bulk_create(Site(team=team, name=f"New {number}") for number in range(2))
    assert [site.name for site in paginator.page(4)] == NAMES[15:20]


@pytest.mark.usefixtures("long")
def test_a_row_that_goes_between_two_queries_is_left_out(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Site.objects.order_by("pk")
    paginator = pagination.LongPaginator(rows, SIZE)

    def late(wanted: list[int]) -> dict[int, Site]:
        Site.objects.filter(pk=wanted[0]).delete()
        return Site.objects.in_bulk(wanted)

    monkeypatch.setattr(rows, "in_bulk", late)
    assert [site.name for site in paginator.page(1)] == NAMES[1:5]


def test_a_list_of_long_rows_gives_fewer_than_are_asked_for_and_leads_to_the_rest(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_sizes, "most_rows", lambda _view: SIZE)
    pages = [api.get("sites/", {"page_size": 1000, "page": number, "ordering": "name"}) for number in range(1, 6)]
    assert [row["name"] for page in pages for row in page["results"]] == NAMES
    assert [len(page["results"]) for page in pages] == [5, 5, 5, 5, 3]
    assert [bool(page["next"]) for page in pages] == [True] * 4 + [False]
