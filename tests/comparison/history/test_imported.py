"""Histories in which imported campaigns stand beside those that were measured here."""

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from apps.campaigns.models import Campaign
from apps.comparison.history import queries
from apps.testbeds.models import Node
from tests.archive.imports import sending
from tests.archive.imports.conftest import folder
from tests.comparison.history.conftest import START, WEEK, measured
from tests.comparison.history.test_history_pages import chart_of, newest, pages

__all__ = ["folder"]


def test_what_was_imported_stands_where_it_was_measured_and_is_marked(
    client: Client, repeated: list[Campaign], cast: SimpleNamespace, pair: list[Node]
) -> None:
    before = measured(cast, pair, 9.1e8, START - WEEK, name="Shell loop of December")
    Campaign.objects.filter(pk=before.pk).update(origin="imported")
    client.force_login(cast.bob)
    page = client.get(pages(newest(repeated))[0]).content.decode()
    points = chart_of(page)["series"][0]["points"]
    assert points[0]["note"] == "Shell loop of December"
    assert len(points) == 9
    assert page.count("imported</span>") == 1
    assert "History" in client.get(reverse("results:experiment", args=[before.experiments.get().pk])).content.decode()


@pytest.mark.parametrize("alike", [True, False])
def test_imports_of_one_series_are_one_history(
    client: Client, cast: SimpleNamespace, pair: list[Node], *, alike: bool
) -> None:
    """A point is what was told of the runs; that more is not known, and may be what changed, is said."""
    columns = {
        "rate (Mbit/s)": {"as": "metric", "name": "goodput", "unit": "Mbit/s"},
        "streams": {"as": "parameter", "name": "streams"},
        "time": {"as": "time"},
    }
    nodes = {"client": [pair[0].pk], "server": [pair[1].pk]}
    for week in range(4):
        at = START + week * WEEK
        rows = "".join(f"{streams},{900 + week},{at:%Y-%m-%d} 1{streams}:00\n" for streams in (1, 4))
        sent = sending.send(cast, {"a.csv": f"streams,rate (Mbit/s),time\n{rows}".encode()}, kind="table")
        sending.services.map_columns(imported=sent, tool="iperf3-tcp", mapping=columns)
        sent = sending.advance(sent)
        sending.choose(sent, nodes, alike=alike)
        trial = sending.store(sent).campaign.trials.order_by("position")[1]
    client.force_login(cast.oscar)
    found = queries.find(cast.oscar, trial.lane_id, point=None, metric=None)
    assert found and {setting.parameters["streams"] for setting in found.settings} == {1, 4}
    assert [setting.campaigns for setting in found.settings] == [4, 4]
    assert [level.summary.median for level in found.levels] == [900e6 + week * 1e6 for week in range(4)]
    link = client.get(reverse("results:trial", args=[trial.pk])).context["history_point"]
    chosen = queries.find(cast.oscar, trial.lane_id, point=link, metric=None)
    assert chosen and chosen.setting.key == link and chosen.setting.parameters["streams"] == 4
    page = client.get(reverse("history:detail", args=[trial.lane_id])).content.decode()
    assert "Not known of imported runs: " in page and "Direction" in page and "unknown_as_in" not in page
    settings = client.get(f"/api/v1/histories/{trial.lane_id}/").json()["settings"]
    assert {item["is_untold"] for item in settings} == {True}


def test_what_was_measured_here_is_all_known(client: Client, repeated: list[Campaign], cast: SimpleNamespace) -> None:
    client.force_login(cast.bob)
    page = client.get(pages(newest(repeated))[0]).content.decode()
    assert "Not known of imported runs" not in page
