"""Flags are seen wherever the figure is: beside it, with how many have them, and what they say a press away."""

import csv
import io
import json
import re
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.results import doubts
from apps.results.models import Result, Sample
from tests import rewriting
from tests.campaigns import factories as make
from tests.pages import flat
from tests.results import readers
from tests.results.readers import World

# At each point one of the three figures that count has a warning; "verified" is no doubt.
FLAGGED, FLAGS = 1, {"sender-too-slow": 1}
MARK = re.compile(r'<details class="flag-mark"><summary>.*?</summary>.*?</details>', re.DOTALL)


@pytest.fixture
def world(cast: SimpleNamespace, client: Client) -> World:
    """Return a campaign between two sites with figures of every kind."""
    [a] = make.nodes(cast.team, "kisti01")
    [b] = make.nodes(cast.team, "pnu01", site="Busan")
    make.link(a, b, "WAN")
    return readers.build(cast, [a, b], client)


def marks(page: str) -> list[str]:
    return MARK.findall(flat(page))


def test_every_page_marks_flagged_figures_in_words(world: World) -> None:
    for name, (address, query) in readers.pages(world).items():
        page = world.text(address, **query)
        assert "figures flagged" in page, name
        if name != "archive":
            assert any("sender-too-slow" in mark and "Words of sender-too-slow" in mark for mark in marks(page)), name
            assert not any("verified" in mark for mark in marks(page)), name


def test_every_row_of_rest_counts_flagged_figures(world: World) -> None:
    experiment = world.experiment.pk
    rows = [
        *world.json(f"/api/v1/experiments/{experiment}/results/")["groups"],
        *world.json(f"/api/v1/comparison/?set=experiment:{experiment}&metric=goodput")["rows"],
        *world.json(f"/api/v1/histories/{world.lane}/?metric=goodput")["levels"],
        *world.json("/api/v1/matrix/?metric=goodput")["cells"],
    ]
    assert len(rows) == 2 + 2 + 1 + 1
    for row in rows:
        assert (row["flagged"], row["flags"]) == (FLAGGED, FLAGS), row
    [hit] = world.json("/api/v1/archive/")["results"]
    assert hit["figures"][0]["flagged"] == 2 * FLAGGED


def test_every_file_has_columns_of_flags(world: World) -> None:
    experiment = world.experiment.pk
    files = {
        "comparison": (reverse("comparison:csv"), {"set": f"experiment:{experiment}", "metric": "goodput"}),
        "history": (reverse("history:csv", args=[world.lane]), {"metric": "goodput"}),
        "matrix": (reverse("matrix:csv"), {"metric": "goodput"}),
    }
    for name, (address, query) in files.items():
        for row in csv.DictReader(io.StringIO(world.text(address, **query))):
            assert (row["flagged"], row["flags"]) == ("1", "sender-too-slow:1"), name
    # A flag that each of several nodes has stands in a cell once.
    for result in Result.objects.filter(experiment=experiment).exclude(flags=[]):
        rewriting.update(Result.objects.filter(pk=result.pk), flags=[*result.flags, *result.flags])
    samples = list(csv.DictReader(io.StringIO(world.text(reverse("results:csv", args=[experiment])))))
    names = [row["flags"].split() for row in samples if row["flags"]]
    assert names and all(len({*own}) == len(own) for own in names)
    assert {(row["metric"], row["counts"]) for row in samples if row["flags"] == "odd-counter"} == {
        ("goodput", "True"),
        ("retransmits", "False"),
    }


def test_charts_have_hollow_points_with_what_the_flags_are_called(world: World) -> None:
    experiment = world.experiment.pk
    panel = world.json(reverse("results:experiment_data", args=[experiment]), metric="goodput")
    page = world.text(reverse("comparison:compare"), set=f"experiment:{experiment}", metric="goodput", points="yes")
    compared = charts_of(page)[0]
    history = charts_of(world.text(reverse("history:detail", args=[world.lane]), metric="goodput"))[0]
    for name, chart, count in (("panel", panel, 2), ("comparison", compared, 2), ("history", history, 1)):
        drawn = [point for series in chart["series"] for point in series["points"]]
        assert len(drawn) == count, name
        for point in drawn:
            assert point["flagged"] == FLAGGED, name
            assert point["flags"] == "1 of 3 figures flagged: sender-too-slow × 1", name
            [place] = point["hollow"]
            assert point["points"][place] == 120e6, name
    [cell] = charts_of(world.text(reverse("matrix:matrix"), metric="goodput"))[0]["cells"]
    assert cell["flagged"] == FLAGGED


def charts_of(page: str) -> list[dict[str, Any]]:
    found = re.findall(r'data-chart="([^"]*)"', page)
    return [json.loads(text.replace("&quot;", '"').replace("&#x27;", "'").replace("&amp;", "&")) for text in found]


def test_what_differs_tells_how_many_figures_are_flagged(world: World, cast: SimpleNamespace) -> None:
    other = make.launched(cast, *world.pair, name="Other", repetitions=3, context=False)
    for trial in other.trials.select_related("experiment"):
        readers.measure_as(trial, 1, readers.START)
    found = world.json(
        f"/api/v1/comparison/?set=experiment:{world.experiment.pk}&set=experiment:{other.experiments.get().pk}"
        "&metric=goodput"
    )
    [flags] = [item for item in found["differences"] if item["topic"] == "Flags"]
    assert (flags["name"], flags["values"]) == ("sender-too-slow", [["2 of 6 figures"], ["no figure"]])


def test_a_finding_tells_which_of_its_trials_are_flagged(world: World) -> None:
    trials = list(world.campaign.trials.values_list("pk", flat=True))
    finding = world.campaign.findings.create(
        team=world.cast.team, rule="x", title={"msgid": "Title", "params": {}}, confidence=0.9,
        details={"evidence": trials, "why": [], "confidence_label": "high", "applies_when": ""},
    )  # fmt: skip
    finding.trials.set(trials)
    page = world.text(reverse("tuning:detail", args=[finding.pk]))
    # Of fourteen trials four have no flag: two warm-ups and the first repetition at each point.
    assert "10 of 14 trials flagged" in page
    assert "Words of odd-counter" in page
    found = world.json(f"/api/v1/findings/{finding.pk}/")
    assert found["flagged"] == 10
    assert found["flags"]["stalled"] == 4
    assert world.json("/api/v1/findings/")["results"][0]["flagged"] == 10
    assert "10 of 14 trials flagged" in world.text(reverse("tuning:campaign_panel", args=[world.campaign.pk]))


def test_the_list_of_trials_marks_each(world: World) -> None:
    page = world.text(reverse("results:trial_list", args=[world.campaign.pk]))
    assert len(marks(page)) == 10
    assert "Loose cable" in page


def test_a_flag_of_another_metric_marks_no_figure_of_this_one(world: World) -> None:
    trial = Sample.objects.filter(metric="goodput", value=110e6).first().trial_id
    found = doubts.doubts_of([world.experiment.pk], ["goodput", "retransmits"])
    assert found.about([trial], "goodput") is None
    mark = found.about([trial], "retransmits")
    assert mark
    assert (mark.summary, mark.names, mark.severity) == ("flagged", "odd-counter", "invalid")


def test_a_flag_without_words_is_still_named(world: World) -> None:
    rewriting.update(Result.objects.all(), flags=[{"name": "odd", "severity": "unheard-of"}])
    page = world.text(reverse("results:experiment", args=[world.experiment.pk]), metric="goodput")
    assert "<code>odd</code>" in page


def test_the_public_page_names_no_node_in_what_a_flag_says(world: World) -> None:
    name = world.pair[0].name
    message = {"msgid": f"The processor of {name} was full.", "params": {}}
    rewriting.update(Result.objects.all(), flags=[{"name": "processor-full", "severity": "info", "message": message}])
    address = reverse("landing:campaign", args=[world.campaign.permanent_id])
    assert name in world.text(address)
    assert name not in world.text(address, **{"as": "stranger"})
