"""Join what agents know of programs that may still run with what is kept back for them."""

from datetime import datetime

from apps.agents import queries as agents
from apps.campaigns import queries
from apps.campaigns import services as campaigns


def lift_fences(*, now: datetime) -> int:
    """Give back what was fenced for programs that have ended or must have; return how many resources."""
    runs = queries.fenced_runs()
    if not runs:
        return 0
    return campaigns.settle_fences(ends=agents.leftovers_of(runs, now), run_ids=sorted(runs), now=now)
