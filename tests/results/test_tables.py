"""Tables and charts of an experiment: groups, statistics, lines of theory, what is left out."""

import dataclasses
from types import SimpleNamespace

import pytest

from apps.bench import tools
from apps.campaigns.models import Campaign, Experiment
from apps.results import charts, queries
from apps.results.models import Result, Sample
from apps.results.theory import Theory, theory_of
from apps.testbeds.models import Node, SitePair
from tests import rewriting
from tests.campaigns import factories as make


@pytest.fixture
def experiment(measured: Campaign) -> Experiment:
    return measured.experiments.get()


def test_a_table_has_a_group_a_point_with_its_statistics(experiment: Experiment) -> None:
    table, _chart = charts.data_for(experiment, metric=None, x=None)
    assert (table.metric.name, table.x) == ("goodput", "window")
    assert [group.x for group in table.groups] == [65536, 1048576]
    assert [group.summary.n for group in table.groups] == [2, 2]
    low, high = table.groups[0].summary.ci_low, table.groups[0].summary.ci_high
    assert low < table.groups[0].summary.mean < high


def test_unknown_metrics_and_factors_fall_back_to_the_usual_ones(experiment: Experiment) -> None:
    table, chart = charts.data_for(experiment, metric="weight", x="colour")
    assert (table.metric.name, table.x) == ("goodput", "window")
    assert chart["x"]["unit"] == "B"


def test_the_usual_metric_is_one_that_was_measured(experiment: Experiment) -> None:
    rewriting.delete(Sample.objects.filter(metric="goodput"))
    table, _chart = charts.data_for(experiment, metric=None, x=None)
    assert (table.metric.name, len(table.groups)) == ("sent_rate", 2)
    table, _chart = charts.data_for(experiment, metric="goodput", x=None)
    assert (table.metric.name, len(table.groups)) == ("goodput", 0)
    rewriting.delete(Sample.objects.all())
    table, _chart = charts.data_for(experiment, metric=None, x=None)
    assert (table.metric.name, len(table.groups)) == ("goodput", 0)


def test_invalid_results_are_left_out_and_counted(experiment: Experiment) -> None:
    flag = {"name": "cache", "severity": "invalid", "message": {"msgid": "cached", "params": {}}}
    rewriting.update(Result.objects.filter(pk=Result.objects.first().pk), flags=[flag])
    table, chart = charts.data_for(experiment, metric=None, x=None)
    assert table.left_out == 1
    assert chart["left_out"] == 1
    assert sum(group.summary.n for group in table.groups) == 3


def make_invalid(result: Result, **scope: object) -> None:
    flag = {"name": "cached-read", "severity": "invalid", "message": {"msgid": "cached", "params": {}}, **scope}
    rewriting.update(Result.objects.filter(pk=result.pk), flags=[flag])


def test_invalid_results_count_if_they_are_asked_for(experiment: Experiment) -> None:
    make_invalid(Result.objects.first())
    table, _chart = charts.data_for(experiment, metric=None, x=None, include_invalid=True)
    assert sum(group.summary.n for group in table.groups) == 4
    assert (table.left_out, table.invalid) == (0, 1)
    assert table.reasons == (("cached-read", 1),)


def test_a_flag_on_other_metrics_leaves_a_figure_valid(experiment: Experiment) -> None:
    make_invalid(Result.objects.first(), metrics=["retransmits"])
    table, _chart = charts.data_for(experiment, metric="goodput", x=None)
    assert (table.invalid, sum(group.summary.n for group in table.groups)) == (0, 4)
    table, _chart = charts.data_for(experiment, metric="retransmits", x=None)
    assert (table.invalid, table.left_out) == (1, 1)


def test_warm_ups_do_not_count(experiment: Experiment) -> None:
    rewriting.update(experiment.trials.filter(repetition=1), is_warmup=True)
    table, _chart = charts.data_for(experiment, metric=None, x=None)
    assert [group.summary.n for group in table.groups] == [1, 1]
    assert table.groups[0].summary.ci_low is None


def test_the_chart_carries_the_ceiling_and_the_bdp_of_the_path(experiment: Experiment) -> None:
    _table, chart = charts.data_for(experiment, metric="goodput", x="window")
    lines = {line["axis"]: line for line in chart["lines"]}
    assert lines["x"]["value"] == 600_000
    assert lines["y"]["value"] == pytest.approx(990.0e6, rel=1e-3)
    assert "WAN" in lines["y"]["label"]


@pytest.mark.parametrize(
    ("between", "size", "label"),
    [
        (None, 600_000, "BDP of the links as described: 585.9 KiB"),
        (0.009, 1_125_000, "BDP of the links' capacity and the RTT of 9.00 ms given for the two sites: 1.073 MiB"),
    ],
    ids=["links", "sites"],
)
def test_a_bdp_is_called_by_what_it_is_of(
    experiment: Experiment, pair: list[Node], between: float | None, size: int, label: str
) -> None:
    if between:
        there = make.nodes(pair[0].team, "elsewhere", site="Busan")[0].testbed
        Node.objects.filter(pk=pair[1].pk).update(testbed=there)
        sites = {"site_a": pair[0].testbed.site, "site_b": there.site}
        SitePair.objects.create(team=pair[0].team, rtt_s=between, **sites)
    _table, chart = charts.data_for(experiment, metric="goodput", x="window")
    found = {line["axis"]: line for line in chart["lines"]}["x"]
    assert (found["value"], found["label"]) == (size, label)


def test_metrics_that_are_no_rate_have_no_ceiling(experiment: Experiment) -> None:
    _table, chart = charts.data_for(experiment, metric="retransmits", x="window")
    assert {line["axis"] for line in chart["lines"]} == {"x"}


def test_no_path_no_lines(experiment: Experiment, pair: list[Node]) -> None:
    pair[0].links_a.all().delete()
    _table, chart = charts.data_for(experiment, metric="goodput", x="window")
    assert chart["lines"] == []


def test_several_pairs_of_nodes_are_a_factor_of_their_own(cast: SimpleNamespace, pair: list[Node]) -> None:
    other = make.nodes(cast.team, "kisti02")[0]
    campaign = make.launched(cast, [pair[0], other], pair[1])
    experiment = campaign.experiments.get()
    assert queries.factors_of(experiment) == ["window", "nodes"]
    assert sorted(queries.lane_names(experiment).values()) == ["kisti01 → pnu01", "kisti02 → pnu01"]
    assert theory_of(experiment) == Theory()
    lanes = list(experiment.lanes.all())
    for lane in lanes:
        trial = lane.trials.first()
        run = trial.runs.create(experiment=trial.experiment, attempt=1, state="succeeded")
        result = Result.objects.create(run=run, trial=trial, experiment=experiment, tool="iperf3-tcp")
        Sample.objects.create(result=result, trial=trial, experiment=experiment, metric="goodput", value=lane.pk)
    table, chart = charts.data_for(experiment, metric=None, x="nodes")
    assert [group.x for group in table.groups] == sorted(lane.pk for lane in lanes)
    assert {point["x"] for series in chart["series"] for point in series["points"]} == {
        "kisti01 → pnu01",
        "kisti02 → pnu01",
    }


def test_values_are_shown_as_a_reader_writes_them() -> None:
    tool = tools.get("iperf3-tcp")
    window, direction = queries.parameter_of(tool, "window"), queries.parameter_of(tool, "direction")
    assert charts.text_of(window, 65536, {}) == "64 KiB"
    # A trial of ours always has a value where there is a default: what has none was imported, and nobody told it.
    assert charts.text_of(window, None, {}) == "not known"
    assert charts.text_of(dataclasses.replace(window, default=None), None, {}) == "default"
    assert charts.text_of(direction, "both", {}) == "both ways at once"
    assert charts.text_of(None, 7, {7: "a → b"}) == "a → b"


def test_a_table_costs_the_same_queries_however_many_samples(
    experiment: Experiment, django_assert_max_num_queries
) -> None:
    with django_assert_max_num_queries(14):
        charts.data_for(experiment, metric=None, x=None)


def test_datagrams_have_a_ceiling_of_their_own(cast: SimpleNamespace, pair: list[Node]) -> None:
    fixed = {"duration": "2 s", "rate": "500M", "length": "8972 B"}
    tcp = make.launched(cast, *pair, name="tcp").experiments.get()
    udp = make.launched(cast, *pair, name="udp", tool="iperf3-udp", fixed=fixed, factors=[]).experiments.get()
    ping = make.launched(cast, *pair, name="ping", tool="ping", fixed={}, factors=[]).experiments.get()
    short = make.launched(
        cast, *pair, name="short", tool="iperf3-udp", fixed=fixed | {"length": "1448 B"}, factors=[]
    )
    assert theory_of(udp).ceiling_bps > theory_of(tcp).ceiling_bps > theory_of(short.experiments.get()).ceiling_bps
    assert theory_of(ping).ceiling_bps is None
