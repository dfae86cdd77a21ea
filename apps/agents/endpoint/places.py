"""Who of the agents is attended to next: so many requests at a time, of one team fewer, teams in turn."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from apps.agents.endpoint.room import Problem

# Of one team so many requests wait at most, each of which is a connection of an agent.
MOST_WAITING = 1000


class WaitingPlaces:
    """So many places in all, for one event loop; whoever waits is let in by teams in turn."""

    def __init__(self, count: int, of_team: int) -> None:
        self._free, self._of_team = count, of_team
        self._under_way: Counter[int] = Counter()
        # Teams in the order of their turns, each with those who wait.
        self._waiting: dict[int, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def place(self, team: int) -> AsyncIterator[None]:
        """Hold a place until the block ends; Problem 503 if too many of the team wait for one."""
        if self._free and self._under_way[team] < self._of_team:
            self._take(team)
        else:
            await self._wait(team)
        try:
            yield
        finally:
            self._give_back(team)

    async def _wait(self, team: int) -> None:
        queue = self._waiting.setdefault(team, deque())
        if len(queue) >= MOST_WAITING:
            raise Problem(503, "unavailable", "Too many requests of this team's agents wait: send it again later.")
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            # It may have come in the moment in which the agent hung up.
            if turn.done() and not turn.cancelled():
                self._give_back(team)
            elif turn in queue:
                queue.remove(turn)
            raise

    def _take(self, team: int) -> None:
        self._free -= 1
        self._under_way[team] += 1

    def _give_back(self, team: int) -> None:
        self._free += 1
        self._under_way[team] -= 1
        if not self._under_way[team]:
            del self._under_way[team]
        self._let_in()

    def _let_in(self) -> None:
        for team in list(self._waiting):
            queue = self._waiting[team]
            # Who hung up in this turn of the loop is still in line.
            while queue and queue[0].done():
                queue.popleft()
            if self._free and queue and self._under_way[team] < self._of_team:
                self._take(team)
                queue.popleft().set_result(None)
                # Behind the others.
                del self._waiting[team]
                self._waiting[team] = queue
            if not queue:
                del self._waiting[team]
