"""Who of the agents is attended to next: so many requests at a time, of one team fewer, teams in turn."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from apps.agents.endpoint.room import Problem
from apps.core.limits.fair_turns import FairTurns

# Of one team so many requests wait at most, each of which is a connection of an agent.
MOST_WAITING = 1000


class WaitingPlaces:
    """So many places in all, for one event loop; whoever waits is let in by teams in turn."""

    def __init__(self, count: int, of_team: int) -> None:
        # Agents ask on and on, all of them.
        self.turns = FairTurns(count, of_team, first=0)

    @asynccontextmanager
    async def place(self, team: int) -> AsyncIterator[None]:
        """Hold a place until the block ends; Problem 503 if too many of the team wait for one."""
        if self.turns.waiting(team) >= MOST_WAITING:
            raise Problem(503, "unavailable", "Too many requests of this team's agents wait: send it again later.")
        await self.turns.take(team, within_s=None)
        try:
            yield
        finally:
            self.turns.give_back(team)
