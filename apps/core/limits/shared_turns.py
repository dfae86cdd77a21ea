"""Turns of who is known, in one event loop: beside others a person has few in hand, and a team few more.

All requests of a process share one processor, and each that is in hand makes each step of the others wait: what one
has at once must not grow with how many connections they open. Who is alone has as much in hand as there is room for.
The next is of whoever has least in hand, then of the teams that have least, then who came first.
"""

import asyncio
import itertools
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

# After somebody was answered, strangers go on one by one for so long (s), for a page asks for its parts; and so long
# (s) other persons leave them room, for they read it, and ask for the next.
STAYS_S = 2.0
READS_S = 60.0


@dataclass(frozen=True)
class KnownSender:
    """A person with all their sessions and tokens ("person 7"), and the teams that they are of."""

    person: str
    teams: Sequence[str] = ()


@dataclass
class _Presence:
    """What somebody has in hand and waits for, and when the last of theirs was answered."""

    sender: KnownSender
    in_hand: int = 0
    waiting: deque[tuple[int, asyncio.Future[None]]] = field(default_factory=deque)
    last: float = 0.0

    def is_there(self, stays_s: float) -> bool:
        return bool(self.in_hand or self.waiting) or time.monotonic() - self.last < stays_s


class SharedTurns:
    """So many turns in all; of one person `alone`, beside others `of_person`, and of a team then `of_team`.

    Others of a team are all who are not of it.
    """

    def __init__(self, most: int, *, alone: int, of_person: int, of_team: int) -> None:
        self._most, self._alone, self._of_person, self._of_team = most, alone, of_person, of_team
        self._there: dict[str, _Presence] = {}
        self._numbers = itertools.count()

    def is_anybody_there(self) -> bool:
        """Say whether anything is in hand or waits, or was in hand a moment ago."""
        return any(there.is_there(STAYS_S) for there in self._there.values())

    async def take(self, sender: KnownSender, *, within_s: float, is_step: bool = False) -> None:
        """Wait for a turn; TimeoutError if none comes in time. The next step of what was begun is first of theirs."""
        there = self._there.setdefault(sender.person, _Presence(sender))
        there.sender = sender
        turn = asyncio.get_running_loop().create_future()
        (there.waiting.appendleft if is_step else there.waiting.append)((next(self._numbers), turn))
        self._let_in()
        try:
            async with asyncio.timeout(within_s):
                await turn
        except BaseException:
            # It may have come at the moment in which nobody waited any more.
            if turn.done() and not turn.cancelled():
                self.give_back(sender)
            else:
                there.waiting = deque(each for each in there.waiting if each[1] is not turn)
                there.last = time.monotonic()
            raise

    def give_back(self, sender: KnownSender) -> None:
        """Let the next in."""
        there = self._there[sender.person]
        there.in_hand, there.last = there.in_hand - 1, time.monotonic()
        self._let_in()

    def _let_in(self) -> None:
        self._there = {person: there for person, there in self._there.items() if there.is_there(READS_S)}
        while (following := self._next()) is not None:
            _number, turn = following.waiting.popleft()
            if not turn.done():
                following.in_hand += 1
                turn.set_result(None)

    def _next(self) -> _Presence | None:
        """Return of whom the next one is, None if nobody may have one more."""
        of_team, members = Counter[str](), Counter[str]()
        for there in self._there.values():
            members.update(there.sender.teams)
            of_team.update(dict.fromkeys(there.sender.teams, there.in_hand))
        number = len(self._there)

        def may_have_one(there: _Presence) -> bool:
            most = self._alone if number == 1 else self._of_person
            teams = (team for team in there.sender.teams if members[team] < number)
            return there.in_hand < most and all(of_team[team] < self._of_team for team in teams)

        def rank(there: _Presence) -> tuple[int, int, int]:
            in_teams = max((of_team[team] for team in there.sender.teams), default=0)
            return there.in_hand, in_teams, there.waiting[0][0]

        if sum(there.in_hand for there in self._there.values()) >= self._most:
            return None
        ready = (there for there in self._there.values() if there.waiting and may_have_one(there))
        return min(ready, key=rank, default=None)
