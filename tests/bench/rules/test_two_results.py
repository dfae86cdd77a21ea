"""Two experiments that measured one setting with two results: both are told with when, and neither is enough."""

import dataclasses

import pytest

from apps.bench import tools
from apps.bench.rules import ask_ends
from apps.bench.rules.base import DOUBT, NO_CHANGE, Evidence, PathFacts
from apps.bench.rules.runner import drafts_of
from apps.bench.rules.tcp.levels import RATES
from apps.bench.validity.ceilings import MOVED
from tests import sayings
from tests.bench.rules.cases import Maker
from tests.bench.rules.test_levels import SEEDS, findings_of, of_lengths, of_one, of_times


def texts(messages):
    return [sayings.filled(message.as_json()) for message in messages]


@pytest.mark.parametrize("seed", SEEDS)
def test_both_results_are_told_with_their_times_and_nothing_is_enough(seed):
    drawn = of_times(seed)
    drafts = drafts_of(ask_ends(drawn.evidence))
    (doubt,) = [draft for draft in drafts if draft.rule == "path-levels"]
    assert doubt.kind == DOUBT
    assert doubt.low == pytest.approx(min(drawn.now, drawn.other), rel=0.08)
    assert doubt.high == pytest.approx(max(drawn.now, drawn.other), rel=0.08)
    assert any("1970-01-01 00:16 UTC" in line and "1970-01-01 00:33 UTC" in line for line in texts(doubt.why))
    assert not [draft.title for draft in drafts if draft.kind == NO_CHANGE]
    assert all(draft.confidence <= 0.5 for draft in drafts if draft.present or draft.tried)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_confirms_the_capacity_is_said_to_be_of_the_other_time(seed):
    drawn = of_times(seed)
    for draft in drafts_of(ask_ends(drawn.evidence)):
        sentences = texts((*draft.why, *draft.against))
        assert not any("left out" in line for line in sentences)
        confirmed = [line for line in sentences if "confirmed by" in line]
        assert all(("that a later one contradicts" in line) == (drawn.now < drawn.other) for line in confirmed), (
            sentences
        )


@pytest.mark.parametrize("draw", [of_lengths, of_one])
def test_runs_of_other_lengths_and_equal_results_are_no_two_results(draw):
    doubted = [
        seed for seed in SEEDS if any(draft.rule == "path-levels" for draft in findings_of(draw(seed).evidence))
    ]
    assert len(doubted) <= len(SEEDS) // 20, doubted


def rates_between_ends():
    """Return every (tool, metric) of what came through from one end to another."""
    between = [tool for tool in tools.all_tools() if tool.group in ("network", "transfer") and len(tool.roles) > 1]
    return [
        (tool, item.name) for tool in between for item in tool.metrics if item.name in MOVED - {"goodput_reverse"}
    ]


def at_two_times(tool, metric, rates, shares=(0.99, 1, 1.01)):
    """Return one setting of a tool in two experiments of three runs each, an hour apart."""
    make = Maker()
    clean = {name: "tcp" for name in ("protocol",) if name in {item.name for item in tool.parameters}}
    roles = {role.name: (role.name,) for role in tool.roles}
    points = [
        dataclasses.replace(
            make.point(tool, clean, *({metric: rate * share} for share in shares)),
            experiment=place,
            at=3600.0 * place,
            layer="network",
            roles=roles,
        )
        for place, rate in enumerate(rates, 1)
    ]
    return Evidence((*points, make.ping(0.005, 0.0051)), PathFacts(1e9, 0.005, 1500))


def test_each_rate_between_ends_is_read_at_its_levels():
    assert {metric for _tool, metric in rates_between_ends()} == RATES.keys()


@pytest.mark.parametrize(
    ("tool", "metric"), rates_between_ends(), ids=lambda item: item if isinstance(item, str) else item.slug
)
def test_two_results_of_one_setting_are_told_of_every_tool(tool, metric):
    unit = RATES[metric]
    rates = (80e6, 40e6) if unit == "B/s" else (640e6, 320e6)
    drafts = findings_of(at_two_times(tool, metric, rates))
    (doubt,) = [draft for draft in drafts if draft.rule == "path-levels"]
    assert (doubt.unit, doubt.low, doubt.high) == (
        unit,
        pytest.approx(rates[1], rel=1e-3),
        pytest.approx(rates[0], rel=1e-3),
    )
    assert any(tool.slug in line and "1970-01-01 01:00 UTC" in line for line in texts(doubt.why))
    assert doubt.proposals[0].tool == tool.slug
    tool.clean(dict(doubt.proposals[0].fixed))
    assert not [draft.title for draft in drafts if draft.kind == NO_CHANGE and draft.present]
    equal = findings_of(at_two_times(tool, metric, (rates[0], rates[0])))
    assert not [draft for draft in equal if draft.rule == "path-levels"]


@pytest.mark.parametrize(("times", "is_told"), [(1.7, False), (2.2, True)])
def test_of_runs_that_nobody_repeated_two_results_are_told_where_they_lie_far_apart(times, is_told):
    drafts = findings_of(at_two_times(tools.get("iperf3-tcp"), "goodput", (640e6, 640e6 / times), shares=(1,)))
    doubts = [draft for draft in drafts if draft.rule == "path-levels"]
    assert [draft.confidence for draft in doubts] == [0.6] * is_told
    assert not any("repetitions scatter" in line for draft in doubts for line in texts(draft.why))


def test_transfers_at_two_times_need_no_option_by_none_of_them():
    tool = tools.get("gridftp")
    make, points = Maker(), []
    for place, rate in enumerate((80e6, 40e6), 1):
        for streams in (1, 2, 4):
            point = make.point(tool, {"streams": streams}, *({"throughput": rate * s} for s in (0.99, 1, 1.01)))
            roles = {"source": ("a",), "destination": ("b",)}
            points.append(
                dataclasses.replace(point, experiment=place, at=3600.0 * place, layer="network", roles=roles)
            )
    drafts = findings_of(Evidence(tuple(points), PathFacts(1e9, 0.005, 1500)))
    assert [draft.rule for draft in drafts if draft.rule == "path-levels"]
    assert not [draft.title for draft in drafts if draft.rule.startswith("gridftp") and draft.kind == NO_CHANGE]
