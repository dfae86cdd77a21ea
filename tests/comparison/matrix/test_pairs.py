"""The matrix by pairs of sites: what is judged, against what, and where its figures lead."""

import re
from html import unescape
from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.testbeds.models import Link, Node
from tests.campaigns import factories as make
from tests.comparison.history.conftest import START, WEEK, measured
from tests.comparison.matrix.test_matrix import PANEL, window
from tests.comparison.matrix.test_matrix import pair as pair
from tests.pages import flat
from tests.results.factories import measure


@pytest.mark.parametrize(
    ("there", "back", "grade"),
    [(9.8e8, 9.5e8, "good"), (9.8e8, 8e8, "fair"), (6e8, 9.8e8, "bad"), (9.8e8, None, "good"), (None, 5e8, "bad")],
)
def test_a_pair_is_judged_by_its_slower_direction(
    client: Client, cast: SimpleNamespace, pair: list[Node], there: float | None, back: float | None, grade: str
) -> None:
    now = timezone.now()
    for ends, value in ((pair, there), (pair[::-1], back)):
        if value:
            measured(cast, ends, value, now)
    client.force_login(cast.bob)
    for name in ("matrix:matrix", PANEL):
        page = client.get(reverse(name)).content.decode()
        assert re.findall(r'<td class="pair pair-(\w+)( pair-stale)?"', page) == [(grade, "")]
    [lowest] = sorted(client.get("/api/v1/matrix/").json()["cells"], key=lambda cell: cell["value"])[:1]
    assert lowest["ceiling"] == pytest.approx(990e6, rel=0.01)


def test_what_is_old_is_hatched_and_without_a_ceiling_nothing_is_judged(
    client: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    Link.objects.update(capacity_bps=None)
    measured(cast, pair, 9e8, timezone.now() - 2 * WEEK)
    client.force_login(cast.bob)
    page = client.get(reverse("matrix:matrix")).content.decode()
    assert re.findall(r'<td class="pair pair-(\w+)( pair-stale)?"', page) == [("unknown", " pair-stale")]
    assert "No ceiling is known" in page
    assert client.get("/api/v1/matrix/").json()["cells"][0]["ceiling"] is None


@pytest.mark.parametrize(("later", "grade"), [(3e8, "doubted"), (9e8, "good")])
def test_an_old_figure_that_nothing_came_near_since_is_doubted(
    client: Client, cast: SimpleNamespace, pair: list[Node], later: float, grade: str
) -> None:
    now = timezone.now()
    measured(cast, pair, 9.6e8, now - 52 * WEEK, factors=window("4 MiB"))
    measured(cast, pair, later, now, factors=window("1 MiB"))
    client.force_login(cast.bob)
    page = client.get(reverse("matrix:matrix")).content.decode()
    assert re.findall(r'<td class="pair pair-(\w+)', page) == [grade]
    assert ("since then 300" in page) is (grade == "doubted")
    [cell] = client.get("/api/v1/matrix/").json()["cells"]
    figures = (pytest.approx(9.6e8, rel=0.01), pytest.approx(later, rel=0.01), grade == "doubted")
    assert (cell["value"], cell["since"], cell["is_doubted"]) == figures


def test_below_the_diagonal_stands_the_min_rtt(client: Client, cast: SimpleNamespace, pair: list[Node]) -> None:
    measured(cast, pair, 9e8, START)
    measured(cast, pair, 9e8, START)
    ping = make.launched(cast, *pair, name="rtt", tool="ping", fixed={"count": "5"}, factors=[], repetitions=2)
    for trial in ping.trials.all():
        measure(trial, rtt_min=0.0047)
    client.force_login(cast.bob)
    page = client.get(reverse("matrix:matrix"), {"tool": "iperf3-tcp"}).content.decode()
    assert re.search(r'pair-rtt"><a [^>]*>4.70 ms', flat(page))


def test_each_figure_leads_to_the_history_of_its_own_setting(
    client: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    for week, (expression, rate) in enumerate([("64 KiB", 1e8), ("64 KiB", 1e8), ("1 MiB", 9e8)]):
        measured(cast, pair, rate, START + week * WEEK, factors=window(expression))
    client.force_login(cast.bob)
    for name in ("matrix:matrix", PANEL):
        page = client.get(reverse(name)).content.decode()
        for way in set(re.findall(r'href="(/history/[^"]*)"', page)) - {"/history/"}:
            history = flat(client.get(unescape(way)).content.decode())
            assert "900." in history and "1 MiB" in history, way
            assert "What is shown is something else." not in history


@pytest.mark.parametrize("metric", ["goodput", "offered_load", "loss", "jitter"])
def test_only_a_rate_that_was_reached_is_judged(
    client: Client, cast: SimpleNamespace, pair: list[Node], metric: str
) -> None:
    udp = make.launched(cast, *pair, tool="iperf3-udp", fixed={"duration": "2 s"}, repetitions=2,
                        factors=[{"name": "rate", "expression": "622 Mbit/s"}])  # fmt: skip
    for trial in udp.trials.all():
        measure(trial, goodput=120e6, offered_load=1.1e9, loss=0.8, jitter=1e-4)
    client.force_login(cast.bob)
    page = client.get(reverse("matrix:matrix"), {"metric": metric}).content.decode()
    grades = set(re.findall(r'<td class="pair pair-(\w+)', page))
    assert grades == ({"bad"} if metric == "goodput" else {"unknown"})
    assert "No ceiling is known" not in page
    assert "below the diagonal" not in page


def test_a_figure_beyond_the_ceiling_is_no_good_grade(
    client: Client, cast: SimpleNamespace, pair: list[Node]
) -> None:
    measured(cast, pair, 1.4e9, START)
    client.force_login(cast.bob)
    page = client.get(reverse("matrix:matrix")).content.decode()
    assert set(re.findall(r'<td class="pair pair-(\w+)', page)) == {"unknown"}
    assert "141" in page
