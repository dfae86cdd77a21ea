"""The newest figures between sites."""

import csv
import io
import json
import re
from html import unescape
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.archive.search import entries
from apps.campaigns.models import Campaign
from apps.comparison.matrix import ways
from apps.testbeds.models import Node
from tests import factories, rewriting
from tests.campaigns import factories as make
from tests.comparison.history.conftest import START, WEEK, add_result, measured
from tests.pages import flat

ADDRESSES = ["matrix:matrix", "matrix:csv", "matrix:json"]
PANEL = "matrix:panel"


@pytest.fixture
def pair(cast: SimpleNamespace) -> list[Node]:
    """Return a node in Daejeon and one in Busan."""
    [a], [b] = make.nodes(cast.team, "kisti01"), make.nodes(cast.team, "pnu01", site="Busan")
    make.link(a, b, "WAN")
    return [a, b]


def chart_of(page: str) -> dict[str, Any]:
    found = re.search(r'data-chart="([^"]*)"', page)
    assert found, page
    return json.loads(unescape(found[1]))


def rows(client: Client, **query: str) -> list[tuple[str, str, float, int]]:
    found = client.get(reverse("matrix:json"), query).json()
    return [(row["from"], row["to"], row["value"], row["samples"]) for row in found]


def test_strangers_sign_in_and_other_teams_see_an_empty_matrix(
    client: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    measured(cast, pair, 9e8, START)
    for name in (*ADDRESSES, PANEL):
        assert client.get(reverse(name)).status_code == 302
    client.force_login(cast.charlie)
    assert "Nothing was measured between two sites yet" in client.get(reverse(PANEL)).content.decode()
    assert "Nothing was measured between two nodes yet" in client.get(reverse(ADDRESSES[0])).content.decode()
    for name in ADDRESSES[1:]:
        assert client.get(reverse(name)).status_code == 404


def test_both_directions_of_the_newest_campaign_are_shown_to_a_viewer(
    client: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    measured(cast, pair, 9e8, START)
    newest = measured(cast, pair, 7e8, START + WEEK)
    measured(cast, list(reversed(pair)), 5e8, START)
    client.force_login(cast.bob)
    assert rows(client) == [
        ("Busan", "Daejeon", pytest.approx(5e8, rel=1e-3), 2),
        ("Daejeon", "Busan", pytest.approx(7e8, rel=1e-3), 2),
    ]
    page = client.get(reverse("matrix:matrix")).content.decode()
    assert reverse("results:experiment", args=[newest.experiments.get().pk]) in page
    chart = chart_of(page)
    assert chart["x"]["labels"] == ["Busan", "Daejeon"]
    assert {(cell["y"], cell["x"]): round(cell["v"] / 1e8) for cell in chart["cells"]} == {(1, 0): 7, (0, 1): 5}


def test_of_a_sweep_the_best_point_counts_in_the_metrics_own_direction(
    client: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    factors = [{"name": "window", "expression": "64KiB, 1MiB"}]
    campaign = measured(cast, pair, 0.0, START, factors=factors, repetitions=1)
    for trial in campaign.trials.all():
        samples = trial.results.get().samples
        small = trial.parameters["window"] == 65536
        rewriting.update(samples.filter(metric="goodput"), value=1e8 if small else 9e8)
        rewriting.update(samples.filter(metric="retransmits"), value=2 if small else 50)
    client.force_login(cast.bob)
    assert rows(client) == [("Daejeon", "Busan", 9e8, 1)]
    assert rows(client, metric="retransmits") == [("Daejeon", "Busan", 2.0, 1)]
    assert "best of 2" in client.get(reverse("matrix:matrix")).content.decode()


def test_a_newer_campaign_without_a_valid_figure_leaves_the_one_before(
    client: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    measured(cast, pair, 9e8, START)
    broken = measured(cast, pair, 1e6, START + WEEK, repetitions=1)
    trial = broken.trials.get()
    rewriting.delete(trial.runs.all())
    flag = {"name": "cached", "severity": "invalid", "metrics": ["goodput"]}
    add_result(trial, 1e12, START + WEEK, flags=[flag])
    printed = measured(cast, pair, 1e6, START + 2 * WEEK)
    Campaign.objects.filter(pk=printed.pk).update(origin="published")
    client.force_login(cast.bob)
    assert rows(client) == [("Daejeon", "Busan", pytest.approx(9e8, rel=1e-3), 2)]
    # The flag speaks of the goodput only; a single run takes no place of a repeated one.
    assert rows(client, metric="retransmits") == [("Daejeon", "Busan", 0.0, 2)]


def test_what_stays_within_a_site_is_no_pair(client: Client, cast: SimpleNamespace) -> None:
    a, b = make.nodes(cast.team, "kisti01", "kisti02")
    make.link(a, b, "LAN")
    measured(cast, [a, b], 9e8, START)
    client.force_login(cast.bob)
    assert (
        "No valid figures of this metric between two sites yet"
        in client.get(reverse("matrix:matrix")).content.decode()
    )


def test_the_csv_says_what_the_page_says(client: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    measured(cast, pair, 9e8, START)
    client.force_login(cast.bob)
    [row] = csv.DictReader(io.StringIO(client.get(reverse("matrix:csv")).content.decode()))
    assert (row["from"], row["to"], row["unit"], row["samples"]) == ("Daejeon", "Busan", "bit/s", "2")


def test_an_unknown_tool_or_metric_is_told_of(client: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    measured(cast, pair, 9e8, START)
    client.force_login(cast.bob)
    asked = {"tool": "nonsense", "metric": "nonsense"}
    answer = client.get("/matrix/table.json", asked)
    assert answer.status_code == 400 and set(answer.json()["fields"]) == {"tool", "metric"}
    page = client.get("/matrix/", asked).content.decode()
    assert page.count("What is shown is something else.") == 2
    assert "What is shown is something else." not in client.get("/matrix/").content.decode()


def test_the_page_costs_a_bounded_number_of_queries(
    client: Client, cast: SimpleNamespace, pair: list[Node], django_assert_max_num_queries: Any
) -> None:
    for week in range(3):
        measured(cast, pair, 9e8, START + week * WEEK, repetitions=1)
    client.force_login(cast.bob)
    with django_assert_max_num_queries(26):
        client.get(reverse("matrix:matrix"))
    with django_assert_max_num_queries(26):
        client.get(reverse("matrix:panel"))


def test_rest_tells_the_same_and_names_what_there_is(client: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    address, headers = "/api/v1/matrix/", factories.bearer(cast.bob)
    empty = client.get(address, **headers).json()
    assert (empty["tool"], empty["metric"], empty["cells"]) == (None, None, [])
    measured(cast, pair, 9e8, START)
    assert client.get(address).status_code == 401
    assert client.get(address, **factories.bearer(cast.charlie)).json()["cells"] == []
    told = client.get(address, **headers).json()
    names = {site["id"]: site["name"] for site in told["sites"]}
    [cell] = told["cells"]
    assert (names[cell["from"]], names[cell["to"]], cell["samples"]) == ("Daejeon", "Busan", 2)
    assert (told["tool"], told["metric"], told["unit"]) == ("iperf3-tcp", "goodput", "bit/s")
    for name in ("tool", "metric"):
        answer = client.get(address, {name: "nonsense"}, **headers)
        assert answer.status_code == 400
        assert told[name] in answer.json()["fields"][name][0]


def window(size: str) -> list[dict[str, str]]:
    return [{"name": "window", "expression": size}]


def test_neither_bad_settings_nor_a_single_run_repaint_the_matrix(
    client: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    measured(cast, pair, 9e8, START, factors=window("1 MiB"))
    measured(cast, pair, 1e8, START + WEEK, factors=window("8 KiB"))
    measured(cast, pair, 2e8, START + 2 * WEEK, factors=window("1 MiB"), repetitions=1)
    client.force_login(cast.bob)
    assert rows(client) == [("Daejeon", "Busan", pytest.approx(9e8, rel=1e-3), 2)]
    # The same setting measured again, as often, is what it reaches now.
    measured(cast, pair, 5e8, START + 3 * WEEK, factors=window("1 MiB"))
    assert rows(client) == [("Daejeon", "Busan", pytest.approx(5e8, rel=1e-3), 2)]


def test_however_often_a_bad_setting_is_measured_it_repaints_nothing(
    client: Client, cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways, "MOST_WAYS", 2)
    measured(cast, pair, 9e8, START, factors=window("1 MiB"))
    for week, size in enumerate(("8 KiB", "8 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB"), start=1):
        measured(cast, pair, 1e8, START + week * WEEK, factors=window(size))
    # What older experiments reached is what the archive's index says.
    entries.index_due(now=timezone.now(), limit=100)
    client.force_login(cast.bob)
    assert rows(client) == [("Daejeon", "Busan", pytest.approx(9e8, rel=1e-3), 2)]


def test_a_slow_pair_of_nodes_takes_no_place_of_a_fast_one(
    client: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    measured(cast, pair, 9e8, START)
    [login] = make.nodes(cast.team, "login01")
    make.link(login, pair[1], "Slow")
    measured(cast, [login, pair[1]], 1e7, START + WEEK)
    client.force_login(cast.bob)
    assert rows(client) == [("Daejeon", "Busan", pytest.approx(9e8, rel=1e-3), 2)]


def test_each_figure_says_at_which_setting_between_which_nodes_and_how_long_ago(
    client: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    measured(cast, pair, 9e8, START, factors=window("64 KiB, 1 MiB"))
    client.force_login(cast.bob)
    page = client.get(reverse("matrix:matrix")).content.decode()
    table = flat(page[page.rindex("<table") :])
    assert re.search(r"<td>Window (64 KiB|1 MiB)", table)
    assert re.search(r"<td>kisti01 → pnu01</td><td><time[^>]*>\d{4}-\d\d-\d\d \d\d:\d\d</time>.*? ago", table)
    assert "kisti01 → pnu01, Window" in chart_of(page)["cells"][0]["note"]
    [cell] = client.get("/api/v1/matrix/").json()["cells"]
    assert (cell["nodes"], cell["parameters"]["window"]) in {("kisti01 → pnu01", 65536), ("kisti01 → pnu01", 1048576)}
    [row] = csv.DictReader(io.StringIO(client.get(reverse("matrix:csv")).content.decode()))
    assert row["setting"].startswith("Window ")
