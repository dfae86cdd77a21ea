"""Each rule says on which metrics its findings rest, or why not: no flag of another metric stands beside them."""

import dataclasses

import pytest

from apps.bench import rules, tools
from apps.bench.rules import bearing, runner
from apps.bench.rules.path import unexplained
from apps.bench.rules.tcp import best
from apps.bench.rules.workloads.described import PATTERNS
from tests.bench.rules.storing import MB, polarised


def test_every_rule_says_what_it_rests_on_or_why_not() -> None:
    names = {rule.name for rule in rules.registered()} | {best.RULE, unexplained.RULE}
    entries = [*bearing.NAMED, *bearing.WHOLE, *bearing.METRICS]
    assert sorted(entries) == sorted(names)


def test_every_metric_is_one_that_a_tool_measures() -> None:
    metrics = {metric.name for tool in tools.all_tools() for metric in tool.metrics}
    assert not {(rule, name) for rule, own in bearing.METRICS.items() for name in own if name not in metrics}


def test_what_a_finding_names_comes_before_what_its_rule_does() -> None:
    assert bearing.metrics_of("tcp-sack") == {"goodput", "retransmits"}
    assert bearing.metrics_of("tcp-sack", ["loss"]) == {"loss"}
    assert bearing.metrics_of("cache-effect") == frozenset()


def test_every_pattern_of_a_workload_has_its_metrics() -> None:
    metrics = {metric.name for tool in tools.all_tools() for metric in tool.metrics}
    assert set(bearing.METRICS_OF_PATTERNS) == set(PATTERNS)
    assert {name for names in bearing.METRICS_OF_PATTERNS.values() for name in names} <= metrics
    assert bearing.named_in([{"pattern": "randread", "metric": "randread"}, None]) == {"random_read", "read"}


@pytest.mark.parametrize("bears", ["write", "read"])
@pytest.mark.parametrize("rule", ["workload-best", "storage-clients", "storage-share-of-disk", "limiting-layer"])
def test_a_doubt_about_reading_is_none_about_writing(rule: str, bears: str) -> None:
    evidence = polarised(low=24 * MB, high=26 * MB, nfs=80 * MB, hexa=None)
    points = tuple(
        dataclasses.replace(
            point,
            flagged={"cached-by-server": frozenset(trial for own in point.metrics.values() for trial in own)},
            bears={"cached-by-server": frozenset({bears})},
        )
        for point in evidence.points
    )
    drafts = runner.conclude_all(rules.of_whole(), dataclasses.replace(evidence, points=points))
    own = [draft for draft in drafts if draft.rule == rule]
    for draft in own:
        names = bearing.named_in([draft.title.params, *(line.params for line in draft.why)])
        is_doubted = any("is flagged" in str(line) for line in draft.against)
        assert not is_doubted or bears in names or not names
