"""What the path was like just before and just after a run: its route, RTT and loss, and whose traffic was on it."""

from apps.bench.context.bracket import AFTER, BEFORE, bracket
from apps.bench.context.verdicts import judge

__all__ = ["AFTER", "BEFORE", "bracket", "judge"]
