"""TCP over one path: its bandwidth-delay product, what limits it, the window and streams it needs, and the kernel."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.runner import Rule, conclude_all
from apps.bench.rules.tcp import (
    autotuning,
    bdp,
    buffers,
    congestion,
    contradictions,
    discovery,
    limits,
    mtu,
    options,
    pacing,
    per_flow,
    rivals,
    streams,
    verdict,
    window,
)

# In the order in which a person would look: how much, what limits, and then what to change.
# Each is asked what else would look like what it says, and what was measured that speaks against it.
ENDS = tuple(
    Rule(name, version, contradictions.weighed(rivals.with_loss_beside(conclude)))
    for name, version, conclude in (
        *((rule.RULE, rule.VERSION, rule.conclude) for rule in (bdp, verdict, per_flow, window, streams, limits)),
        *((rule.RULE, rule.VERSION, rule.conclude) for rule in (buffers, autotuning)),
        ("tcp-window-scaling", options.VERSION, options.scaling),
        ("tcp-sack", options.VERSION, options.sack),
        ("tcp-timestamps", options.VERSION, options.timestamps),
        *((rule.RULE, rule.VERSION, rule.conclude) for rule in (congestion, pacing, mtu, discovery)),
    )
)


def findings(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules that the evidence carries; a rule without sound evidence is silent."""
    return conclude_all(ENDS, evidence)
