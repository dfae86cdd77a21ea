"""Storage: record size, clients, what a file system costs, its connections and mount options, and caches."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.layers import judge_all
from apps.bench.rules.runner import Rule, conclude_all
from apps.bench.rules.storage import (
    alike,
    caches,
    clients,
    connections,
    modes,
    options,
    pools,
    records,
    shares,
    silence,
)

WHOLE = (
    *(Rule(rule.RULE, rule.VERSION, rule.conclude) for rule in (alike, caches)),
    *(
        Rule(rule.RULE, rule.VERSION, rule.conclude, judge_all)
        for rule in (records, clients, shares, connections, modes)
    ),
    *(Rule(name, options.VERSION, conclude, judge_all) for name, conclude in options.RULES.items()),
    Rule(pools.RULE, pools.VERSION, pools.conclude, judge_all),
    Rule(silence.RULE, silence.VERSION, silence.conclude, is_of_silence=True),
)


def overview(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules for every file system that was measured or of which figures are printed."""
    return conclude_all(WHOLE, evidence)
