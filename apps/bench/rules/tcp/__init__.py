"""TCP over one path: its bandwidth-delay product, what limits it, the window and streams it needs, and the kernel."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.tcp import (
    autotuning,
    bdp,
    buffers,
    congestion,
    discovery,
    limits,
    mtu,
    options,
    pacing,
    per_flow,
    streams,
    verdict,
    window,
)

# In the order in which a person would look: how much, what limits, and then what to change.
RULES = (
    bdp.conclude,
    verdict.conclude,
    per_flow.conclude,
    window.conclude,
    streams.conclude,
    limits.conclude,
    buffers.conclude,
    autotuning.conclude,
    options.scaling,
    options.sack,
    options.timestamps,
    congestion.conclude,
    pacing.conclude,
    mtu.conclude,
    discovery.conclude,
)


def findings(evidence: Evidence) -> list[FindingDraft]:
    """Return the findings of these rules that the evidence carries; a rule without sound evidence is silent."""
    drafts = [conclude(evidence) for conclude in RULES]
    return [draft for draft in drafts if draft is not None]
