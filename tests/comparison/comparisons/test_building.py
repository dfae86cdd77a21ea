"""Sets side by side: which figures belong to a set, where they stand, and what is said of them."""

from dataclasses import FrozenInstanceError
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from apps.bench.comparison import ContrastVerdict, RemarkLevel
from apps.campaigns.models import Campaign, Trial
from apps.comparison.comparisons import comparison as comparisons
from apps.comparison.comparisons.comparison import Comparison
from apps.comparison.comparisons.presentation import charts, downloads, importance, words
from apps.comparison.comparisons.state import read_text
from apps.results.models import Result
from apps.testbeds.models import Cluster, FileSystem, Node
from tests import rewriting
from tests.campaigns import factories as make
from tests.comparison.comparisons.conftest import SWEEP, compared, measure, swept


@pytest.fixture
def compare(cast: SimpleNamespace):
    def made(query: str, user=None) -> Comparison:
        return compared(query, user or cast.bob)

    return made


def of(*campaigns: Campaign, more: str = "") -> str:
    return "&".join([*(f"set=campaign:{campaign.pk}" for campaign in campaigns), more])


def figures(comparison: Comparison, place: int) -> int:
    return sum(cell.n for cell in comparison.cells if cell.set == place)


def test_two_campaigns_stand_side_by_side(compare, before: Campaign, after: Campaign) -> None:
    comparison = compare(of(before, after, more="by=streams"))
    assert comparison.titles == ("Before", "After")
    assert (comparison.axis.name, comparison.series.name, comparison.metric.name) == ("window", "streams", "goodput")
    assert len(comparison.cells) == 2 * len(SWEEP) * 2
    assert {cell.n for cell in comparison.cells} == {4}
    faster = [cell for cell in comparison.cells if cell.set == 1]
    assert all(cell.contrast.difference.ratio == pytest.approx(1.2) for cell in faster)
    assert comparison.overall[1].together.p < 0.001
    assert comparison.overall[1].together.strata == 8
    assert comparison.overall[1].verdict is ContrastVerdict.HIGHER


def test_of_several_tools_the_swept_ones_own_metric_is_shown_first(
    compare, before: Campaign, after: Campaign
) -> None:
    for campaign in (before, after):
        sweep = campaign.experiments.get()
        for name in ("RTT before", "RTT after"):
            ping = campaign.experiments.create(name=name, tool="ping", position=0)
            lane = ping.lanes.create(roles=sweep.lanes.get().roles, resources=[])
            trial = campaign.trials.create(
                experiment=ping, lane=lane, position=0, point=0, repetition=0, parameters={"count": 5}
            )
            measure(trial, rtt_min=0.0048, rtt_mean=0.0049)
    comparison = compare(of(before, after))
    assert comparison.metric.name == "goodput"
    assert {"rtt_mean", "rtt_min"} <= {metric.name for metric in comparison.metrics}


def test_a_metric_that_both_sets_have_figures_of_is_shown_first(compare, cast, pair) -> None:
    first, second = (make.launched(cast, *pair, name=name) for name in ("One", "Other"))
    for campaign, names in ((first, ("goodput", "mean_rtt")), (second, ("mean_rtt",))):
        for trial in campaign.trials.all():
            measure(trial, **dict.fromkeys(names, 0.005))
    assert compare(of(first, second)).metric.name == "mean_rtt"
    assert compare(of(first)).metric.name == "goodput"
    assert compare(of(first, second, more="metric=goodput")).metric.name == "goodput"


def test_a_factor_can_be_fixed(compare, before: Campaign, after: Campaign) -> None:
    comparison = compare(of(before, after, more="fix=streams:2"))
    assert comparison.apart == comparison.averaged == ()
    assert {cell.settings for cell in comparison.cells} == {1}
    assert figures(comparison, 0) == 16


def test_a_parameter_that_another_tool_does_not_have_is_not_given(compare, cast, pair, before: Campaign) -> None:
    comparison = compare(of(before, swept(cast, pair, "By iperf 2", tool="iperf2")))
    told = {item.name: item.values for item in comparison.deviations if item.topic == "Parameters"}
    assert told["Omit"] == ({"1 s"}, {"not given"})
    assert not any("None" in texts for values in told.values() for texts in values)


def test_two_settings_of_one_campaign_differ_in_that_setting_only(compare, before: Campaign) -> None:
    comparison = compare(f"set=campaign:{before.pk};streams=1&set=campaign:{before.pk};streams=2")
    assert comparison.titles == ("Before, streams = 1", "Before, streams = 2")
    assert [(item.name, item.values) for item in comparison.deviations] == [("Streams", ({"1"}, {"2"}))]
    assert comparison.remarks[-1].message.params == {"what": "Streams"}


def test_a_setting_may_be_written_as_its_tool_reads_it(compare, before: Campaign) -> None:
    assert figures(compare(f"set=campaign:{before.pk};window=64KiB"), 0) == 8
    assert figures(compare(f"set=campaign:{before.pk};window=65536"), 0) == 8
    assert figures(compare(f"set=campaign:{before.pk};window=1KiB"), 0) == 0


def test_two_dates_are_two_sets(compare, before: Campaign) -> None:
    middle = timezone.now() - timedelta(days=10)
    early = before.trials.filter(repetition=1)
    early.update(finished_at=middle - timedelta(days=1))
    day = f"{middle:%Y-%m-%d}T00:00:00Z"
    comparison = compare(f"set=campaign:{before.pk};until:{day}&set=campaign:{before.pk};since:{day}")
    assert (figures(comparison, 0), figures(comparison, 1)) == (8, 24)


def test_two_clusters_are_two_sets(compare, cast: SimpleNamespace, pair: list[Node]) -> None:
    other = make.nodes(cast.team, "hexa01")[0]
    swept(cast, pair, "One")
    swept(cast, [other, pair[1]], "Two")
    first, second = make.cluster(cast.team, "Tachyon 1", pair[0]), make.cluster(cast.team, "Tachyon 2", other)
    comparison = compare(f"set=cluster:{first.pk}&set=cluster:{second.pk}&fix=streams:1")
    assert comparison.titles == ("Tachyon 1", "Tachyon 2")
    assert (figures(comparison, 0), figures(comparison, 1)) == (16, 16)
    assert "Nodes (Client)" in {item.name for item in comparison.deviations} or comparison.deviations


def test_two_file_systems_are_two_sets(compare, cast: SimpleNamespace, before: Campaign, after: Campaign) -> None:
    systems = [
        FileSystem.objects.create(team=cast.team, name=name, kind=kind, mount_path=f"/{kind}")
        for name, kind in (("Scratch", "gpfs"), ("Home", "nfs"))
    ]
    for campaign, system in zip((before, after), systems, strict=True):
        campaign.experiments.update(file_system=system)
    comparison = compare("&".join(f"set=file-system:{system.pk}" for system in systems))
    assert comparison.titles == ("Scratch", "Home")
    assert {"File system", "Kind of file system"} <= {item.name for item in comparison.deviations}


def test_the_sets_may_stand_on_the_axis(compare, before: Campaign, after: Campaign) -> None:
    comparison = compare(of(before, after, more="x=set&fix=streams:1&fix=window:65536&base=set:1"))
    assert [cell.x for cell in comparison.cells] == [0, 1]
    assert comparison.cells[1].is_baseline
    assert comparison.cells[0].contrast.difference.ratio == pytest.approx(1 / 1.2)


def test_the_baseline_may_be_a_value_of_the_axis_or_of_the_series(compare, before: Campaign) -> None:
    comparison = compare(of(before, more="by=streams&base=x:65536"))
    ratio = {
        cell.x: cell.contrast.difference.ratio for cell in comparison.cells if cell.contrast and cell.series == 1
    }
    assert ratio[262144] == pytest.approx(533 / 140, rel=0.01)
    assert words.baseline_title(comparison) == "Window 64 KiB"
    comparison = compare(of(before, more="by=streams&base=by:1"))
    assert {round(cell.contrast.difference.ratio, 2) for cell in comparison.cells if cell.contrast} == {1.15}
    assert words.baseline_title(comparison) == "Streams 1"


def test_invalid_figures_are_left_out_counted_and_shown_if_asked_for(compare, before: Campaign) -> None:
    flag = {"name": "cached-read", "severity": "invalid", "message": {"msgid": "cached", "params": {}}}
    rewriting.update(Result.objects.filter(pk=Result.objects.first().pk), flags=[flag])
    comparison = compare(of(before))
    assert figures(comparison, 0) == 31
    assert comparison.gathering.figures.left_out == comparison.gathering.figures.invalid["cached-read"] == 1
    comparison = compare(of(before, more="invalid=yes"))
    assert (figures(comparison, 0), comparison.gathering.figures.left_out) == (32, 0)
    assert comparison.remarks[0].level is RemarkLevel.CAUTION


def test_warm_ups_never_count(compare, before: Campaign) -> None:
    rewriting.update(before.trials.filter(repetition=1), is_warmup=True)
    assert figures(compare(of(before)), 0) == 24


def test_outliers_and_modes_are_shown_and_not_dropped(compare, cast: SimpleNamespace, pair: list[Node]) -> None:
    campaign = make.launched(cast, *pair, factors=[], fixed={}, repetitions=12)
    rates = [13e6, 13.1e6, 13.2e6, 12.9e6, 13e6, 12.8e6, 80e6, 80.4e6, 79e6, 80.8e6, 80e6, 79.9e6]
    for trial, rate in zip(campaign.trials.select_related("experiment"), rates, strict=True):
        measure(trial, goodput=rate)
    (cell,) = compare(of(campaign)).cells
    assert cell.n == 12
    assert (len(cell.modes.lower), len(cell.modes.upper)) == (6, 6)
    rewriting.delete(Trial.objects.filter(results__samples__value__gt=70e6).exclude(results__samples__value=80.8e6))
    comparison = compare(of(campaign))
    assert [value for _trial, value in comparison.cells[0].outliers] == [80.8e6]
    assert "80.8" in charts.note_of(comparison, comparison.cells[0])
    assert comparison.cells[0].n == 7


def test_the_factors_that_matter_are_named(compare, before: Campaign) -> None:
    comparison = compare(of(before))
    (table,) = importance.table_of(comparison, importance.explained(comparison)[0])
    assert table["shares"][0]["label"] == "Window"
    assert table["shares"][0]["share"] > 0.9
    assert {item["label"] for item in table["shares"]} == {"Window", "Streams", "Streams × Window"}


def test_a_lack_of_figures_is_no_verdict(compare, cast: SimpleNamespace, pair: list[Node]) -> None:
    first, second = swept(cast, pair, "A", repetitions=1), swept(cast, pair, "B", 2.0, repetitions=1)
    comparison = compare(of(first, second, more="by=streams"))
    assert {cell.contrast.verdict for cell in comparison.cells if cell.contrast} == {ContrastVerdict.TOO_FEW}
    # All settings together tell it.
    assert (comparison.overall[1].verdict, comparison.overall[1].is_of_each) == (ContrastVerdict.HIGHER, False)


def test_sets_of_others_are_empty(compare, cast: SimpleNamespace, before: Campaign) -> None:
    comparison = compare(of(before), cast.charlie)
    assert comparison.cells == ()
    assert comparison.titles == (f"campaign {before.pk}",)
    assert not comparison.is_comparable


def test_names_of_others_are_not_told(compare, cast: SimpleNamespace, before: Campaign) -> None:
    secret = Cluster.objects.create(team=cast.other_team, name="Secret")
    assert compare(f"set=cluster:{secret.pk}").titles == (f"cluster {secret.pk}",)


def test_of_very_large_sets_the_newest_are_compared_and_it_is_said(
    compare,
    before: Campaign,
    after: Campaign,
    cast: SimpleNamespace,
    pair: list[Node],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("apps.comparison.comparisons.choice.MOST_TRIALS", 40)
    comparison = compare("set=tool:iperf3-tcp")
    assert {row.experiment for row in comparison.gathering.figures.rows[0]} == {after.experiments.get().pk}
    assert comparison.gathering.choice.scopes[0].cut == 32
    assert any(remark.message.params.get("count") == 32 for remark in comparison.remarks)
    monkeypatch.setattr("apps.comparison.comparisons.choice.MOST_TRIALS", 10)
    assert figures(compare(of(before)), 0) == 10


@pytest.mark.parametrize("more", ["", "&x=streams", "&by=streams&base=x:65536", "&fix=streams:2"])
def test_what_was_gathered_once_is_compared_in_any_way_without_the_database(
    compare, before: Campaign, after: Campaign, cast: SimpleNamespace, more: str, django_assert_num_queries: Any
) -> None:
    gathering = compare(of(before, after)).gathering
    state, _errors = read_text(of(before, after) + more)
    with django_assert_num_queries(0):
        comparison = comparisons.compare(gathering.with_state(state))
        charts.charts_of(comparison)
        rows = list(downloads.rows_of(comparison))
    anew = compare(of(before, after) + more)
    assert (comparison.cells, comparison.remarks, comparison.overall) == (anew.cells, anew.remarks, anew.overall)
    assert rows == list(downloads.rows_of(anew))
    with pytest.raises(FrozenInstanceError):
        comparison.cells[0].contrast = None
