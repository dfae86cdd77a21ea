"""Join what agents know of programs that may still run with what is kept back for them."""

from datetime import datetime

from apps.agents import queries as agents
from apps.campaigns import queries
from apps.campaigns import services as campaigns
from apps.core import isolation
from workers import server_clock

LIFT_FENCES = "lift_fences"


def lift_fences(*, now: datetime) -> int:
    """Give back what was fenced for programs that have ended or must have; return how many resources."""
    runs = queries.fenced_runs()
    if not runs:
        return 0
    # Whether time has passed, or the clock was set a moment ago, is to be known before anything is given away.
    server_clock.note_steps(now=now)
    ends = agents.leftovers_of(runs, now)

    def settle(run: int) -> int:
        return campaigns.settle_fence(run_id=run, end=ends.get(run), now=now)

    return sum(isolation.for_each(LIFT_FENCES, sorted(runs), settle, now=now))
