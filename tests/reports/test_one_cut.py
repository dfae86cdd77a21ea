"""An interval ends where no figure can lie, at one place: on a page, over REST, in a comparison and in a report."""

import csv
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from apps.bench import network
from apps.bench.rules import runner
from apps.bench.rules.base import Evidence, FindingDraft, PathFacts
from apps.bench.statistics import bounds, summarise
from apps.bench.text import Message
from apps.campaigns.models import Campaign, Experiment, Trial
from apps.reports import campaign as reports
from apps.reports.document import Figure, Table, walk
from apps.results import intervals
from apps.testbeds.models import Node
from tests.campaigns import factories as make
from tests.results.factories import measure

# By tool and metric the figures of three repetitions: Student's interval of each goes beyond what can be.
NEAR = {
    ("iperf3-tcp", "goodput"): [940e6, 985e6, 900e6],
    ("iperf3-udp", "goodput"): [940e6, 985e6, 900e6],
    ("iperf3-tcp", "fairness"): [0.99, 1.0, 0.9],
    ("iperf3-udp", "loss"): [0.5, 0.9, 0.1],
}
Ends = tuple[float, float]


def measured(cast: SimpleNamespace, pair: list[Node], tool: str, metric: str, *, is_swept: bool) -> Experiment:
    factor = {"iperf3-tcp": ("streams", "2, 4"), "iperf3-udp": ("rate", "900 Mbit/s, 950 Mbit/s")}[tool]
    factors = [{"name": factor[0], "expression": factor[1]}] if is_swept else []
    # Datagrams that fill the path's frames.
    fixed = {"iperf3-udp": {"length": "8972 B"}}.get(tool, {})
    campaign = make.launched(cast, *pair, tool=tool, repetitions=3, factors=factors, fixed=fixed, context=False)
    for trial in campaign.trials.select_related("experiment"):
        figures = {"goodput": NEAR[tool, "goodput"][trial.repetition - 1]}
        measure(trial, **(figures | {metric: NEAR[tool, metric][trial.repetition - 1]}))
        Trial.objects.filter(pk=trial.pk).update(state="succeeded", finished_at=timezone.now())
    Campaign.objects.filter(pk=campaign.pk).update(state="finished", finished_at=timezone.now())
    return campaign.experiments.get()


def _rest(client: Client, experiment: Experiment, metric: str) -> list[Ends]:
    found = client.get(f"/api/v1/experiments/{experiment.pk}/results/", {"metric": metric}).json()
    return [(group["ci_low"], group["ci_high"]) for group in found["groups"]]


def _page(client: Client, experiment: Experiment, metric: str) -> list[Ends]:
    found = client.get(reverse("results:experiment", args=[experiment.pk]), {"metric": metric}).context["rows"]
    return [(row["ends"].low, row["ends"].high) for row in found]


def _chart(client: Client, experiment: Experiment, metric: str) -> list[Ends]:
    found = client.get(reverse("results:experiment_data", args=[experiment.pk]), {"metric": metric}).json()
    return [(point["low"], point["high"]) for series in found["series"] for point in series["points"]]


def _comparison(client: Client, experiment: Experiment, metric: str) -> list[Ends]:
    query = {"set": f"experiment:{experiment.pk}", "metric": metric}
    return [(row["low"], row["high"]) for row in client.get("/api/v1/comparison/", query).json()["rows"]]


def _report(client: Client, experiment: Experiment, metric: str) -> list[Ends]:
    """Return the ends in base units; the files (PDF, XLSX, page) are made of these tables."""
    scales = {"Mbit/s": 1e6, "Gbit/s": 1e9, "%": 0.01, "": 1.0, "1": 1.0}
    for block, places in _tables_of(experiment, metric):
        factor = scales[block.columns[places[0]].unit]
        return [(row[places[0]] * factor, row[places[1]] * factor) for row in block.rows]
    return []


def _tables_of(experiment: Experiment, metric: str) -> Iterator[tuple[Table, list[int]]]:
    """Yield the tables of a report that have an interval of the metric, with the places of its columns."""
    campaign = experiment.campaign
    document = reports.build([campaign], user=campaign.created_by, language="en")
    label = {"goodput": "Goodput", "fairness": "Fairness", "loss": "Datagram loss"}[metric]
    for block in walk(document):
        titles = [column.title for column in block.columns] if isinstance(block, Table) else []
        places = [place for place, title in enumerate(titles) if title.startswith(label) and "(95" in title]
        if isinstance(block, Table) and len(places) == 2:
            yield block, places


READERS = (_rest, _page, _chart, _comparison, _report)


@pytest.mark.django_db
@pytest.mark.parametrize("is_swept", [True, False])
@pytest.mark.parametrize(("tool", "metric"), NEAR)
def test_each_reader_cuts_where_nothing_can_be(
    client: Client, cast: SimpleNamespace, pair: list[Node], tool: str, metric: str, is_swept: bool
) -> None:
    experiment = measured(cast, pair, tool, metric, is_swept=is_swept)
    client.force_login(cast.oscar)
    ceiling = network.tcp_ceiling_bps(1e9, 9000) if tool == "iperf3-tcp" else network.udp_ceiling_bps(1e9, 9000)
    most = ceiling if metric == "goodput" else 1.0
    own = summarise(NEAR[tool, metric])
    assert own.ci_high and most and own.ci_high > most
    for reader in READERS:
        found = reader(client, experiment, metric)
        if reader is _report and not found:
            # A report has no interval of a metric that it does not draw.
            assert metric != "goodput"
            continue
        assert len(found) == (2 if is_swept else 1), reader.__name__
        for low, high in found:
            assert high == pytest.approx(most, rel=1e-6), reader.__name__
            assert low == pytest.approx(max(0.0, own.ci_low or 0.0), rel=1e-5), reader.__name__


@pytest.mark.django_db
def test_a_figure_just_above_the_ceiling_raises_the_cut_to_itself(
    client: Client, cast: SimpleNamespace, pair: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    ceiling = network.tcp_ceiling_bps(1e9, 9000) or 0.0
    figures = [0.97 * ceiling, 1.004 * ceiling, 0.99 * ceiling]
    monkeypatch.setitem(NEAR, ("iperf3-tcp", "goodput"), figures)
    experiment = measured(cast, pair, "iperf3-tcp", "goodput", is_swept=True)
    client.force_login(cast.oscar)
    assert (summarise(figures).ci_high or 0.0) > max(figures)
    for reader in READERS:
        ends = [high for _low, high in reader(client, experiment, "goodput")]
        assert ends == [pytest.approx(max(figures), rel=1e-6)] * 2, reader.__name__


def test_an_index_of_jain_is_at_most_one_and_a_wrong_limit_cuts_nothing() -> None:
    assert bounds.clipped(0.9, 1.1, "1", [0.99, 1.0], metric="fairness").high == 1.0
    assert bounds.clipped(0.9, 1.1, "1", [0.99, 1.0], metric="slowdown").high == 1.1
    assert bounds.clipped(0.9, 1.3, "1", [0.99, 1.2], metric="fairness").high == 1.3


def _notes_of_rest(client: Client, experiment: Experiment, metric: str) -> list[bool]:
    found = client.get(f"/api/v1/experiments/{experiment.pk}/results/", {"metric": metric}).json()
    return [group["ci_is_cut"] for group in found["groups"]]


def _notes_of_page(client: Client, experiment: Experiment, metric: str) -> list[bool]:
    page = client.get(reverse("results:experiment", args=[experiment.pk]), {"metric": metric})
    titles = [row["ends"].title for row in page.context["rows"]]
    assert all(f'title="{escape(title)}"' in page.content.decode() for title in titles)
    return [intervals.cut_note() in title for title in titles]


def _notes_of_chart(client: Client, experiment: Experiment, metric: str) -> list[bool]:
    found = client.get(reverse("results:experiment_data", args=[experiment.pk]), {"metric": metric}).json()
    return [_is_noted(point) for series in found["series"] for point in series["points"]]


def _notes_of_comparison(client: Client, experiment: Experiment, metric: str) -> list[bool]:
    query = {"set": f"experiment:{experiment.pk}", "metric": metric}
    return [row["is_cut"] for row in client.get("/api/v1/comparison/", query).json()["rows"]]


def _notes_of_comparison_csv(client: Client, experiment: Experiment, metric: str) -> list[bool]:
    query = {"set": f"experiment:{experiment.pk}", "metric": metric}
    text = client.get(reverse("comparison:csv"), query).content.decode()
    return [row["is_cut"] == "True" for row in csv.DictReader(text.splitlines())]


def _notes_of_report(client: Client, experiment: Experiment, metric: str) -> list[bool]:
    """Return which rows say so beside the figures: page, PDF, XLSX and CSV of a report are made of its tables."""
    for block, places in _tables_of(experiment, metric):
        titles = [column.title for column in block.columns]
        remarks = [str(row[titles.index("Remark")] or "") if "Remark" in titles else "" for row in block.rows]
        noted = [f"{titles[places[0]].partition(',')[0]}" in text and "interval cut" in text for text in remarks]
        assert (intervals.cut_note() in block.note) == any("interval cut" in text for text in remarks)
        return noted
    return []


def _notes_of_figure(client: Client, experiment: Experiment, metric: str) -> list[bool]:
    campaign = experiment.campaign
    document = reports.build([campaign], user=campaign.created_by, language="en")
    charts = [block.chart for block in walk(document) if isinstance(block, Figure)]
    own = [chart for chart in charts if chart.get("metric", {}).get("name") == metric]
    return [_is_noted(point) for chart in own[:1] for series in chart["series"] for point in series["points"]]


def _is_noted(point: dict[str, object]) -> bool:
    return intervals.cut_note() in str(point.get("note", ""))


NOTES = (
    _notes_of_rest,
    _notes_of_page,
    _notes_of_chart,
    _notes_of_comparison,
    _notes_of_comparison_csv,
    _notes_of_report,
    _notes_of_figure,
)
# Figures of which Student's interval lies within what can be.
WITHIN = {
    ("iperf3-tcp", "goodput"): [500e6, 501e6, 502e6],
    ("iperf3-udp", "goodput"): [500e6, 501e6, 502e6],
    ("iperf3-tcp", "fairness"): [0.5, 0.501, 0.502],
    ("iperf3-udp", "loss"): [0.5, 0.501, 0.502],
}


@pytest.mark.django_db
@pytest.mark.parametrize("is_swept", [True, False])
@pytest.mark.parametrize("is_cut", [True, False])
@pytest.mark.parametrize(("tool", "metric"), NEAR)
def test_each_cut_has_its_note_wherever_it_is_drawn_or_printed(
    client: Client,
    cast: SimpleNamespace,
    pair: list[Node],
    tool: str,
    metric: str,
    is_swept: bool,
    is_cut: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not is_cut:
        for key, figures in WITHIN.items():
            monkeypatch.setitem(NEAR, key, figures)
    experiment = measured(cast, pair, tool, metric, is_swept=is_swept)
    client.force_login(cast.oscar)
    for reader in NOTES:
        noted = reader(client, experiment, metric)
        if not noted and reader in (_notes_of_report, _notes_of_figure):
            # A report has no interval of a metric that it does not draw, and no figure of a single place.
            assert metric != "goodput" or not is_swept
            continue
        assert noted == [is_cut] * (2 if is_swept else 1), reader.__name__


def test_a_predicted_interval_that_is_cut_says_so() -> None:
    evidence = Evidence((), PathFacts(1e9, 0.005, 1500))
    ceiling = network.tcp_ceiling_bps(1e9, 1500) or 0.0
    for interval, expected in (((-1e8, 5e8), (0.0, 5e8)), ((4e8, 2e9), (4e8, ceiling)), ((4e8, 5e8), (4e8, 5e8))):
        draft = FindingDraft(
            rule="any", version=1, title=Message("x"), why=(), formula="", evidence=(), confidence=0.5,
            applies_when=Message("x"), predicted=4.5e8, predicted_interval=interval, predicted_unit="bit/s",
        )  # fmt: skip
        found = runner.cut(draft, evidence)
        assert found.predicted_interval == pytest.approx(expected)
        assert any("is cut" in str(limit) for limit in found.limits) == (interval != expected)
