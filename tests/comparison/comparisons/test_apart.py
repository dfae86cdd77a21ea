"""No figure of a comparison is a mean over settings that differ, and no interval reaches where no figure can lie."""

from types import SimpleNamespace

import pytest

from apps.bench import network
from apps.bench.comparison import RemarkLevel
from apps.campaigns.models import Campaign
from apps.comparison.comparisons.comparison import Comparison
from apps.comparison.comparisons.presentation import charts, downloads, tables
from apps.comparison.figures.checks import check_chart
from apps.testbeds.models import Link, Node
from tests.campaigns import factories as make
from tests.comparison.comparisons.conftest import compared, measure, swept


@pytest.fixture
def compare(cast: SimpleNamespace):
    def made(query: str) -> Comparison:
        return compared(query, cast.bob)

    return made


def of(*campaigns: Campaign, more: str = "") -> str:
    return "&".join([*(f"set=campaign:{campaign.pk}" for campaign in campaigns), more])


def test_no_figure_is_a_mean_over_settings_that_differ(compare, before: Campaign, after: Campaign) -> None:
    comparison = compare(of(before, after))
    assert [factor.name for factor in comparison.apart] == ["streams"]
    assert comparison.averaged == ()
    assert {(cell.settings, cell.n) for cell in comparison.cells} == {(1, 4)}
    assert {comparison.rest_of(cell) for cell in comparison.cells} == {"Streams 1", "Streams 2"}
    # Each place has the baseline of its own setting.
    assert {round(cell.contrast.difference.ratio, 3) for cell in comparison.cells if cell.contrast} == {1.2}
    assert {row["others"]["streams"] for row in downloads.rows_of(comparison)} == {1, 2}


@pytest.mark.parametrize("chart", ["line", "box", "heat"])
def test_every_chart_tells_settings_apart(compare, before: Campaign, after: Campaign, chart: str) -> None:
    for more in ("", "&x=set", "&x=set&by=window"):
        found = charts.charts_of(compare(of(before, after, more=f"chart={chart}{more}")))
        for _title, data in found:
            check_chart(data)
        kinds = {"heat": "cells", "box": "boxes", "line": "points"}
        drawn = [
            figure
            for _title, data in found
            for holder in (data["series"] if chart != "heat" else [data])
            for figure in holder[kinds[chart]]
        ]
        assert len(drawn) == 16
        assert {figure["n"] for figure in drawn} == {4}


def test_pairs_of_nodes_are_told_apart_where_all_sets_have_them(compare, cast, pair: list[Node]) -> None:
    other = make.nodes(cast.team, "hexa01")[0]
    for near in (pair[0], other):
        swept(cast, [near, pair[1]], f"From {near.name}")
    comparison = compare("set=tool:iperf3-tcp")
    assert [factor.name for factor in comparison.apart] == ["streams", "nodes"]
    assert {cell.settings for cell in comparison.cells} == {1}
    # Where each set has nodes of its own figures are means over them, and that is said.
    comparison = compare(f"set=node:{other.pk}&set=tool:iperf3-tcp&by=streams")
    assert comparison.apart == ()
    assert [factor.name for factor in comparison.averaged] == ["nodes"]
    assert any("averaged over Nodes" in str(remark.message) for remark in comparison.remarks)


def test_intervals_end_where_no_figure_can_lie(compare, cast, pair: list[Node]) -> None:
    link = Link.objects.get()
    ceiling = network.tcp_ceiling_bps(link.capacity_bps, link.mtu)
    campaign = make.launched(cast, *pair, factors=[], fixed={}, repetitions=3, context=False)
    for trial, rate in zip(campaign.trials.select_related("experiment"), (0.999, 0.96, 0.9), strict=True):
        measure(trial, goodput=rate * ceiling, retransmits=(1 - rate) * 1000)
    comparison = compare(of(campaign))
    (cell,), (row,) = comparison.cells, downloads.rows_of(comparison)
    assert cell.centre.high > ceiling
    assert (row["high"], row["is_cut"]) == (pytest.approx(ceiling), True)
    assert "cut" in tables.entry_of(comparison, cell).method
    for chart in ("line", "heat"):
        ((_title, data),) = charts.charts_of(compare(of(campaign, more=f"chart={chart}")))
        figure = data["cells"][0] if chart == "heat" else data["series"][0]["points"][0]
        assert figure["high"] == pytest.approx(ceiling)
    (row,) = downloads.rows_of(compare(of(campaign, more="metric=retransmits")))
    assert (row["low"], row["is_cut"]) == (0.0, True)


def test_only_what_both_sets_have_is_compared(compare, cast, pair, before: Campaign) -> None:
    factors = [before.experiments.get().factors[0], {"name": "streams", "expression": "1"}]
    comparison = compare(of(before, swept(cast, pair, "One stream", factors=factors)))
    assert comparison.is_comparable
    assert {comparison.rest_of(cell) for cell in comparison.cells if cell.contrast} == {"Streams 1"}
    assert sum(cell.contrast is not None for cell in comparison.cells) == 4


def test_sets_without_a_setting_in_common_are_not_compared(compare, cast, pair, before: Campaign) -> None:
    factors = [before.experiments.get().factors[0], {"name": "streams", "expression": "16, 4"}]
    comparison = compare(of(before, swept(cast, pair, "Many", factors=factors)))
    assert comparison.remarks[0].level is RemarkLevel.REFUSAL
    assert "no value of Window, Streams in common" in str(comparison.remarks[0].message)
    assert all(cell.contrast is None for cell in comparison.cells)
