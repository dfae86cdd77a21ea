"""What a search of the archive finds, and what it does not."""

from types import SimpleNamespace
from typing import Any

import pytest

from apps.archive.search.conditions import known_to
from apps.archive.search.facets import facets_of
from apps.archive.search.queries import experiments_found, find, hits_of, with_details
from apps.archive.search.state import read_text
from apps.bench.text import Message
from apps.campaigns.models import Campaign
from tests import rewriting
from tests.archive.search.conftest import START, experiment_of, figures, index, names, sites
from tests.campaigns import factories as make

# Together they make the archive once.
pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("search")]


def test_words_are_found_by_their_beginning_in_any_script(archive: SimpleNamespace) -> None:
    everything = ["대구 회선", "Way back", "Window sweep", "Disks"]
    assert names(archive, "") == everything
    assert names(archive, "sort=name") == ["Disks", "Way back", "Window sweep", "대구 회선"]
    assert names(archive, "q=sweep") == ["Window sweep"]
    assert names(archive, "q=WIND swe") == ["Window sweep"]
    assert names(archive, "q=대구") == ["대구 회선"]
    assert names(archive, "q=knu01") == ["대구 회선"]
    assert names(archive, "q=Busan") == ["Way back", "Window sweep"]
    assert names(archive, "q=gpfs0") == ["Disks"]
    assert names(archive, "q=iperf3 oscar") == everything[:3]
    assert names(archive, "q=busan knu01") == []
    # Whatever the words hold besides, the query stays one.
    assert names(archive, "q=win' | 'xyzzy :* %26 !(") == []
    # Of signs only there is no word to find; of nothing but space all is listed.
    for signs in ("'%26|!", "%F0%9F%98%80", "%22%22", "[]()", "…"):
        assert names(archive, f"q={signs}") == []
    assert names(archive, "q=++") == everything


def test_facets_narrow_by_what_was_measured_with_and_between(archive: SimpleNamespace) -> None:
    between = sites(archive.kisti, archive.pnu)
    assert names(archive, f"pair={between}") == ["Way back", "Window sweep"]
    swapped = "-".join(reversed(between.split("-")))
    assert names(archive, f"pair={swapped}&tool=iperf3-tcp") == ["Way back", "Window sweep"]
    assert names(archive, f"pair={between}&pair={sites(archive.kisti, archive.knu)}") == names(
        archive, "tool=iperf3-tcp"
    )
    assert names(archive, f"site={archive.knu.testbed.site_id}") == ["대구 회선"]
    assert names(archive, f"testbed={archive.pnu.testbed_id}") == ["Way back", "Window sweep"]
    assert names(archive, f"cluster={archive.cluster.pk}&tool=ior") == ["Disks"]
    assert names(archive, f"node={archive.knu.pk}&node={archive.pnu.pk}") == ["대구 회선", "Way back", "Window sweep"]
    assert names(archive, f"file-system={archive.gpfs.pk}") == ["Disks"]
    assert names(archive, "origin=published") == ["Disks"]
    assert names(archive, "team=grid&person=oscar&tool=ior") == ["Disks"]
    assert names(archive, "person=nobody") == []
    Campaign.objects.filter(name="Way back").update(tags=["baseline", "kreonet"])
    assert names(archive, "tag=kreonet") == ["Way back"]
    assert names(archive, "tag=kreonet&tag=baseline") == ["Way back"]
    assert names(archive, "tag=kreonet&tag=other") == []


def test_values_of_parameters_and_figures_are_found_within_ranges(archive: SimpleNamespace) -> None:
    assert names(archive, "param=streams:4..16") == ["Way back"]
    assert names(archive, "param=streams:5..15") == []
    assert names(archive, "param=window:1MiB..") == ["Window sweep", "대구 회선"][::-1]
    assert names(archive, "param=window:64 KiB") == ["대구 회선", "Window sweep"]
    assert names(archive, "param=direction:reverse") == ["대구 회선"]
    archive.back.experiments.get().search_entry.values.create(name="setting.client.net.core.rmem_max", text="4194304")
    assert names(archive, "param=setting.client.net.core.rmem_max:4194304") == ["Way back"]
    assert names(archive, "metric=goodput:600 Mbit/s..") == ["Window sweep"]
    assert names(archive, "metric=goodput:..300 Mbit/s") == ["대구 회선", "Window sweep"]
    # The sweep lies on both sides of this range, with nothing in it.
    assert names(archive, "metric=goodput:400 Mbit/s..800 Mbit/s") == ["Way back"]
    assert names(archive, "metric=goodput:105 Mbit/s..120 Mbit/s&metric=retransmits:3") == ["Window sweep"]


def test_dates_count_whole_days(archive: SimpleNamespace) -> None:
    assert names(archive, "since=2026-02-01") == ["대구 회선", "Way back"]
    assert names(archive, "since=2026-01-05&until=2026-01-05") == ["Window sweep"]
    assert names(archive, "until=2026-01-04") == []


def test_others_results_are_not_found_but_shared_ones_are(archive: SimpleNamespace) -> None:
    assert names(archive, "", archive.cast.charlie) == ["Theirs"]
    Campaign.objects.filter(name="Theirs").update(visibility="public", redacted=False)
    assert "Theirs" in names(archive, "")
    Campaign.objects.filter(name="Theirs").update(visibility="private")
    assert "Theirs" not in names(archive, "")


def test_what_is_being_deleted_is_found_no_more(archive: SimpleNamespace) -> None:
    Campaign.objects.filter(name="Way back").update(deleting_at=START)
    assert names(archive, "tool=iperf3-tcp") == ["대구 회선", "Window sweep"]
    rewriting.delete(Campaign.objects.filter(pk=archive.third.pk))
    assert names(archive, "tool=iperf3-tcp") == ["Window sweep"]


def test_what_cannot_be_read_is_said_with_what_to_write(archive: SimpleNamespace) -> None:
    known = known_to(archive.cast.bob)

    def wrong(query: str) -> dict[str, list[Message]]:
        return read_text(query, known)[1]

    assert "No tool has a parameter “colour”." in str(wrong("param=colour:3")["param"][0])
    assert "No tool has a metric" in str(wrong("metric=colour:3..")["metric"][0])
    assert "“goodput” is no range" in str(wrong("metric=goodput")["metric"][0])
    assert "not a rate" in str(wrong("metric=goodput:fast..")["metric"][0])
    assert "comes first" in str(wrong("param=streams:9..2")["param"][0])
    assert "Choose what the range is of" in str(wrong("param_from=3")["param"][0])
    assert "is no date" in str(wrong("since=yesterday")["since"][0])
    assert "is no value of" in str(wrong("pair=3")["pair"][0])
    assert set(wrong("site=x&pair=1-2-3&origin=stolen&sort=colour&tool=ior%00")) == {"site", "pair", "origin", "sort"}
    assert set(wrong("site=99999999999999999999")) == {"site"}
    assert read_text("q=" + "x" * 600, known)[1]["q"]


def test_a_search_is_the_query_of_its_address(archive: SimpleNamespace) -> None:
    known = known_to(archive.cast.bob)
    query = "q=two+words&tool=ior&pair=3-7&tag=a&param=streams%3A4..16&metric=goodput%3A1+Gbit%2Fs..&since=2026-01-05"
    search, errors = read_text(query, known)
    assert not errors
    assert search.as_query() == query
    assert search.toggled("tool", "ior").as_query() == query.replace("&tool=ior", "")
    assert search.without("tag").values("tag") == ()
    spelt, errors = read_text("param_name=direction&param_from=reverse&metric_name=goodput&metric_to=1G", known)
    assert (errors, spelt.as_query()) == ({}, "param=direction%3Areverse&metric=goodput%3A..1G")


def test_facets_are_counted_as_if_nothing_were_chosen_of_them(archive: SimpleNamespace) -> None:
    between = sites(archive.kisti, archive.pnu)
    search, _errors = read_text(f"pair={between}", known_to(archive.cast.bob))
    found = {facet.name: facet for facet in facets_of(search, archive.cast.bob)}
    pairs = [(choice.label, choice.count, choice.is_chosen) for choice in found["pair"].choices]
    assert pairs == [("Busan – Daejeon", 2, True), ("Daegu – Daejeon", 1, False)]
    assert [(choice.label, choice.count) for choice in found["tool"].choices] == [("iperf3 TCP", 2)]
    assert {choice.label for choice in found["node"].choices} == {"kisti01", "pnu01"}
    assert found["pair"].choices[0].query == ""
    assert "team" not in found
    search, _errors = read_text("tag=none-has-it", known_to(archive.cast.bob))
    [tag] = next(facet for facet in facets_of(search, archive.cast.bob) if facet.name == "tag").choices
    assert (tag.value, tag.count, tag.is_chosen) == ("none-has-it", 0, True)


def test_a_hit_tells_the_best_of_its_points_without_invalid_figures_and_warm_ups(archive: SimpleNamespace) -> None:
    last = archive.back.trials.order_by("position").last()
    flag = {"name": "odd", "severity": "invalid", "metrics": ["goodput"], "message": {}}
    rewriting.update(archive.back.trials.get(position=0).samples.filter(metric="goodput"), value=6e8)
    rewriting.update(last.results, flags=[flag])
    rewriting.update(last.samples, value=9e12)
    archive.windows.trials.filter(position=3).update(invalid_at=START)
    rewriting.update(archive.windows.trials.filter(position=0), is_warmup=True)
    for campaign in (archive.back, archive.windows):
        campaign.save()
    assert index() == 2
    search, _errors = read_text("tool=iperf3-tcp&sort=name", known_to(archive.cast.bob))
    hits = hits_of(with_details(find(search, archive.cast.bob)), search)
    told = {hit.experiment.campaign.name: (hit.players, hit.entry.trials, hit.figures[0]) for hit in hits}
    players, trials, figure = told["Way back"]
    assert (players, trials) == ("pnu01 → kisti01", 6)
    assert (figure.metric.name, figure.n, figure.best) == ("goodput", 5, 5.5e8)
    _players, trials, figure = told["Window sweep"]
    assert (trials, figure.n, figure.low, figure.best) == (3, 2, 1.1e8, 9e8)


def test_other_apps_can_take_the_experiments_that_a_search_finds(archive: SimpleNamespace) -> None:
    search, _errors = read_text("q=sweep", known_to(archive.cast.bob))
    assert list(experiments_found(search, archive.cast.bob)) == [experiment_of(archive.windows)]


def test_many_are_found_in_as_many_queries_as_few(archive: SimpleNamespace, django_assert_num_queries: Any) -> None:
    for _turn in range(3):
        figures(make_like(archive), [1e8], START)
    index()
    search, _errors = read_text("tool=iperf3-tcp", known_to(archive.cast.bob))
    with django_assert_num_queries(4):
        assert len(hits_of(with_details(find(search, archive.cast.bob)), search)) == 6


def make_like(archive: SimpleNamespace) -> Campaign:
    return make.launched(archive.cast, archive.kisti, archive.pnu, name="Again")
