"""Each rule says on which metrics its findings rest, or why not: no flag of another metric stands beside them."""

from apps.bench import rules, tools
from apps.bench.rules import bearing
from apps.bench.rules.tcp import best


def test_every_rule_says_what_it_rests_on_or_why_not() -> None:
    names = {rule.name for rule in rules.registered()} | {best.RULE}
    told = [*bearing.NAMED, *bearing.WHOLE, *bearing.METRICS]
    assert sorted(told) == sorted(names)


def test_every_metric_is_one_that_a_tool_measures() -> None:
    known = {metric.name for tool in tools.all_tools() for metric in tool.metrics}
    assert not {(rule, name) for rule, own in bearing.METRICS.items() for name in own if name not in known}


def test_what_a_finding_names_comes_before_what_its_rule_does() -> None:
    assert bearing.metrics_of("tcp-sack") == {"goodput", "retransmits"}
    assert bearing.metrics_of("tcp-sack", ["loss"]) == {"loss"}
    assert bearing.metrics_of("cache-effect") == frozenset()
