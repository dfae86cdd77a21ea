"""Pages of comparisons: who sees them, what they show, and what they say of wrong addresses."""

import csv
import io
import itertools
import json
import re
from html import unescape
from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from apps.campaigns.models import Campaign
from apps.comparison.comparisons.presentation import parallel
from apps.comparison.comparisons.state import CHARTS
from apps.comparison.figures.checks import check_chart
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.comparison.comparisons.conftest import address, swept


def charts_in(page: str) -> list[dict]:
    return [json.loads(unescape(text)) for text in re.findall(r'data-chart="([^"]*)"', page)]


def test_the_stranger_the_wrong_team_and_the_viewer(
    client: Client, before: Campaign, after: Campaign, cast: SimpleNamespace
) -> None:
    pages = [
        address(before, after),
        address(before, after).replace("/compare/", "/compare/table.csv"),
        address(before, after).replace("/compare/", "/compare/table.json"),
        reverse("comparison:add_set"),
    ]
    for page in pages:
        assert client.get(page).status_code == 302, page
    client.force_login(cast.charlie)
    for page in pages:
        answer = client.get(page).content.decode()
        assert "Before" not in answer
        assert "kisti01" not in answer
    client.force_login(cast.bob)
    for page in pages:
        assert client.get(page).status_code == 200, page
    assert "Before" in client.get(pages[0]).content.decode()


def test_the_page_shows_chart_table_ratio_and_what_differs(
    client: Client, before: Campaign, after: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    page = client.get(address(before, after, more="by=streams")).content.decode()
    (chart,) = charts_in(page)
    assert chart["kind"] == "line"
    assert [series["label"] for series in chart["series"]] == [
        "Before · Streams 1",
        "Before · Streams 2",
        "After · Streams 1",
        "After · Streams 2",
    ]
    assert {line["axis"] for line in chart["lines"]} == {"x", "y"}
    assert "× 1.2" in page
    assert "over all common settings" in page
    assert "What differs" in page
    assert reverse("results:trial", args=[before.trials.first().pk]) in page


MORE = (
    "by=streams", "ratio=yes", "points=yes&stat=median", "x=set&by=streams", "x=nodes", "base=x:65536", "log_y=yes",
)  # fmt: skip


def test_every_kind_of_chart_has_the_form_that_is_drawn(
    client: Client, before: Campaign, after: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    for kind, more in itertools.product(CHARTS, MORE):
        answer = client.get(address(before, after, more=f"chart={kind}&{more}"))
        charts = charts_in(answer.content.decode())
        assert charts, (kind, more)
        assert {check_chart(chart)["kind"] for chart in charts} == {kind}


def test_a_ratio_has_its_baseline_as_a_line(
    client: Client, before: Campaign, after: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    (chart,) = charts_in(client.get(address(before, after, more="ratio=yes&fix=streams:1")).content.decode())
    assert [line["value"] for line in chart["lines"] if line["axis"] == "y"] == [1.0]
    assert {point["y"] for point in chart["series"][0]["points"]} == {1.0}
    assert chart["series"][1]["points"][0]["y"] == pytest.approx(1.2)


def test_parallel_coordinates_show_every_run_up_to_the_most(
    client: Client, before: Campaign, after: Campaign, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(cast.bob)
    (chart,) = charts_in(client.get(address(before, after, more="chart=parallel")).content.decode())
    assert len(chart["rows"]) == len(chart["ids"]) == 64
    assert [axis["name"] for axis in chart["axes"]] == ["set", "window", "streams", "goodput"]
    monkeypatch.setattr(parallel, "MOST_RUNS", 20)
    (chart,) = charts_in(client.get(address(before, after, more="chart=parallel")).content.decode())
    assert 10 < len(chart["rows"]) <= 20
    page = client.get(address(before, after, more="chart=parallel&fix=streams:1")).content.decode()
    (chart,) = charts_in(page)
    assert {row[2] for row in chart["rows"]} == {1}
    assert "16 of 32 runs are drawn" in page


def test_an_empty_page_asks_for_a_first_set(client: Client, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    assert "Begin with a first set" in client.get("/compare/").content.decode()


@pytest.mark.parametrize(
    "query",
    [
        "set=nonsense",
        "set=campaign:999999999",
        "set=campaign:1&chart=pie&stat=mode&base=x&fix=y&log_x=z",
        "set=campaign:1&x=%00&by=%00&metric=%00",
        "set=cluster:1;since:2026-13-01",
        "set=campaign:1&page=nonsense",
        "set=node:9223372036854775807&x=weight&by=colour&fix=a:b",
    ],
)
def test_what_cannot_be_shown_is_said_and_breaks_nothing(
    client: Client, before: Campaign, cast: SimpleNamespace, query: str
) -> None:
    client.force_login(cast.bob)
    assert client.get(f"/compare/?{query}").status_code == 200
    assert client.get(f"/compare/table.csv?{query}").status_code in (200, 400)


def test_wrong_addresses_name_the_field(client: Client, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    page = client.get("/compare/?set=campaign:x&chart=pie").content.decode()
    assert "set.0" in page
    assert "by its number" in page
    answer = client.get("/compare/table.json?set=campaign:x")
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == ["set.0"]


def test_a_set_is_added_by_the_form(client: Client, before: Campaign, after: Campaign, cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    fields = {"query": f"set=campaign:{before.pk}&stat=median", "campaign": after.pk, "settings": "streams=2"}
    answer = client.get(reverse("comparison:add_set"), fields)
    assert answer.status_code == 302
    page = client.get(answer["Location"]).content.decode()
    assert "After, streams = 2" in page
    assert 'value="median" selected' in page


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"label": "only a name"}, "needs something to choose by"),
        ({"settings": "nonsense"}, "no part of a set"),
        ({"campaign": "999999"}, "This is not offered here"),
        ({"since": "yesterday"}, "This is no date"),
    ],
)
def test_a_form_that_makes_no_set_says_why(client: Client, cast: SimpleNamespace, fields: dict, says: str) -> None:
    client.force_login(cast.bob)
    answer = client.get(reverse("comparison:add_set"), fields)
    assert answer.status_code == 400
    assert says in unescape(answer.content.decode())


def test_others_campaigns_are_not_offered(client: Client, before: Campaign, cast: SimpleNamespace) -> None:
    client.force_login(cast.charlie)
    assert "Before" not in client.get(reverse("comparison:add_set")).content.decode()
    assert client.get(reverse("comparison:add_set"), {"campaign": before.pk}).status_code == 400


def test_the_downloads_hold_every_place(
    client: Client, before: Campaign, after: Campaign, cast: SimpleNamespace
) -> None:
    client.force_login(cast.bob)
    whole = address(before, after, more="by=streams")
    answer = client.get(whole.replace("/compare/", "/compare/table.csv"))
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert len(rows) == 16
    assert {row["unit"] for row in rows} == {"bit/s"}
    assert 'filename="before-after.csv"' in answer["Content-Disposition"]
    body = client.get(whole.replace("/compare/", "/compare/table.json")).json()
    assert len(body["rows"]) == 16
    assert client.get(f"/compare/?{body['query']}").status_code == 200


def test_long_tables_have_pages(
    client: Client, before: Campaign, cast: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.comparison.comparisons.presentation.page.LINES_PER_PAGE", 3)
    client.force_login(cast.bob)
    page = client.get(address(before, more="fix=streams:1&page=2")).content.decode()
    assert "512 KiB" in page.split("comparison-table")[1]
    assert "64 KiB" not in page.split("comparison-table")[1].split("</table>")[0]


def test_six_sets_by_cluster_and_campaign_cost_a_bounded_number_of_queries(
    client: Client, cast: SimpleNamespace, pair: list[Node], django_assert_max_num_queries
) -> None:
    clusters = [make.cluster(cast.team, f"Cluster {number}", *pair) for number in range(6)]
    campaigns = [swept(cast, pair, f"Campaign {number}", repetitions=1) for number in range(6)]
    client.force_login(cast.bob)
    site = pair[0].testbed.site_id
    sets = "&".join(
        f"set=campaign:{campaign.pk};cluster:{cluster.pk};site:{site};node:{pair[0].pk}"
        for campaign, cluster in zip(campaigns, clusters, strict=True)
    )
    with django_assert_max_num_queries(30):
        assert client.get(f"/compare/?{sets}").status_code == 200
