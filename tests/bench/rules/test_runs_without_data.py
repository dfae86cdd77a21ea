"""A run in which nothing arrived is one of a setting's runs, like one in which hardly anything did."""

import itertools

import pytest

from apps.bench.rules import ask_ends, runner
from apps.bench.rules.base import DOUBT
from tests.bench.rules.cases import LINKS, Maker, evidence

# Mbit/s of a path of about 940.
RUNS = [(927, 932), (932, 924, 930), (240, 241, 239), (936, 240, 937, 238)]


def drafts_of(rates, by_streams=None, by_windows=None):
    make = Maker()
    points = [make.ping(0.0048), make.tcp([rate * 1e6 for rate in rates])]
    if by_streams:
        points += make.stream_sweep({count: [share * by_streams for share in (0, 0.99, 1)] for count in (2, 4)})
    if by_windows:
        points += [make.tcp([0, by_windows * 1e6], window=window) for window in (2**20, 2**21)]
    return {draft.rule: draft for draft in runner.drafts_of(ask_ends(evidence(points, LINKS)))}


@pytest.mark.parametrize("low", [(0,), (0, 0)])
@pytest.mark.parametrize("rates", RUNS)
def test_no_rule_takes_it_for_another_than_one_with_hardly_any(rates, low):
    for by_streams, by_windows in itertools.product((None, 925, 450), (None, 925)):
        for order in {(*low, *rates), (*rates, *low)}:
            zero = drafts_of(order, by_streams, by_windows)
            assert zero.pop("path-silence").kind == DOUBT
            little = drafts_of([rate or 1 for rate in order], by_streams, by_windows)
            little.pop("path-silence", None)
            assert {name: draft.subject for name, draft in zero.items()} == {
                name: draft.subject for name, draft in little.items()
            }


@pytest.mark.parametrize("rates", [(0, 927, 932), (0, 0, 932, 924, 930)])
def test_the_path_is_not_said_to_be_filled_where_nothing_arrived_in_some_runs(rates):
    drafts = drafts_of(rates, by_streams=925)
    limit = drafts.get("tcp-limit")
    assert limit is None or limit.subject != "path"


def test_nothing_is_told_of_runs_that_all_had_nothing():
    assert "tcp-limit" not in drafts_of((0, 0, 0))


def test_a_setting_with_which_nothing_arrived_is_told_beside_every_conclusion():
    make = Maker()
    points = [make.ping(0.0048), make.tcp([0, 0, 0]), *make.stream_sweep({2: [925, 930, 928], 4: [926, 931, 929]})]
    drafts = [draft for draft in runner.drafts_of(ask_ends(evidence(points, LINKS))) if draft.rule.startswith("tcp-")]
    assert drafts
    for draft in drafts:
        assert "With 1 of 3 settings of TCP nothing arrived" in " ".join(map(str, draft.against))
        assert draft.confidence <= 0.5


def test_where_nothing_ever_arrived_nothing_is_advised():
    make = Maker()
    points = [make.ping(0.0048), make.tcp([0, 0, 0]), *make.stream_sweep({2: [0, 0, 0], 4: [0, 0]})]
    rules = {draft.rule for draft in runner.drafts_of(ask_ends(evidence(points, LINKS)))}
    assert not {rule for rule in rules if rule.startswith("tcp-")}


def test_a_mean_far_below_what_a_run_had_is_no_most():
    draft = drafts_of((0, 939, 939)).get("path-unexplained")
    assert draft is None or "on average but 939.0 Mbit/s in a run" in str(draft.title)


@pytest.mark.parametrize("rate", [1.0, 195.0, 480.0])
def test_a_path_that_is_said_to_be_full_is_so_where_its_links_are_described_with_more(rate):
    make = Maker()
    sweep = {count: [rate * share for share in (0.999, 1, 1.001)] for count in (1, 2, 4)}
    points = [make.ping(0.0048), *make.stream_sweep(sweep, rtt=0.02)]
    drafts = {draft.rule: draft for draft in runner.drafts_of(ask_ends(evidence(points, LINKS)))}
    if "path-unexplained" in drafts and drafts["tcp-limit"].subject == "path":
        assert str(drafts["path-unexplained"].title).startswith("TCP fills the path with")


@pytest.mark.parametrize(("rates", "count"), [((0, 927, 932), 1), ((0, 0, 932, 924, 930), 2), ((0, 0, 0), 3)])
def test_how_many_runs_had_nothing_is_a_problem_of_its_own(rates, count):
    make = Maker()
    points = [make.ping(0.0048), make.tcp([rate * 1e6 for rate in rates]), make.tcp([925e6] * 2, streams=2)]
    drafts = {draft.rule: draft for draft in runner.drafts_of(ask_ends(evidence(points, LINKS)))}
    draft = drafts["path-silence"]
    assert str(draft.title).startswith(f"In {count} of {len(rates) + 2} runs nothing arrived")
    assert len(draft.trials) == count
    assert draft.kind == DOUBT
    assert "path-silence" not in drafts_of((1, 927, 932))
