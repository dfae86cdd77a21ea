"""What limits a file system: the network, the disks, or the file system itself; each layer alone, side by side.

The evidence has points of each layer (`Point.layer`) with their nodes, `paths` from the clients of each file system
to its servers, and `file_systems` with theirs; which local file systems lie beneath one `disks` tells.
"""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.layers import doubts, limit, undecided
from apps.bench.rules.layers.tables import Row, Table, table
from apps.bench.rules.layers.verdicts import Verdict, judge_all
from apps.bench.rules.runner import Rule, conclude_all

__all__ = ["WHOLE", "Row", "Table", "Verdict", "judge_all", "overview", "table"]

WHOLE = tuple(Rule(rule.RULE, rule.VERSION, rule.conclude_all, judge_all) for rule in (limit, undecided, doubts))


def overview(evidence: Evidence) -> list[FindingDraft]:
    """Return the limiting layer of each file system and way, or that it is not told, and a cache's figures."""
    return conclude_all(WHOLE, evidence)
