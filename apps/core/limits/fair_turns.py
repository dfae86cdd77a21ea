"""Turns in one event loop for all of whom nobody is known: some of each address, some in all, dealt out fairly.

Who has had few lately is let in first, then whoever has the fewest in hand, of these the one that waits longest since
its turn before. A visitor's page waits for none of thirty addresses that ask on and on.
"""

import asyncio
import time
from collections import Counter, OrderedDict, deque

# So many turns an address has before all that ask on and on: a page with what belongs to it.
_FIRST = 16
# One that had none for so long (s) has its first ones again; the latest addresses are remembered.
_AFRESH_AFTER_S = 10.0
_MOST_REMEMBERED = 10_000


class FairTurns:
    """So many turns in all, of one address fewer."""

    def __init__(self, most: int, most_of_address: int) -> None:
        self._free, self._most_of_address = most, most_of_address
        self._in_hand = Counter[str]()
        # How many turns an address has had, and when the last.
        self._had: OrderedDict[str, tuple[int, float]] = OrderedDict()
        # Who waits, by rank: who has had few, then by what is in hand; in the last are those that may have no more.
        self._waiting: list[OrderedDict[str, deque[asyncio.Future[None]]]] = [
            OrderedDict() for _rank in range(most_of_address + 2)
        ]
        self._ranks: dict[str, int] = {}

    async def take(self, address: str, *, within_s: float) -> None:
        """Wait for a turn; TimeoutError if none comes in time."""
        if self._free and self._in_hand[address] < self._most_of_address:
            self._count(address)
            return
        turn = asyncio.get_running_loop().create_future()
        self._queue_of(address).append(turn)
        try:
            async with asyncio.timeout(within_s):
                await turn
        except BaseException:
            # It may have come at the moment in which nobody waited any more.
            if turn.done() and not turn.cancelled():
                self.give_back(address)
            else:
                self._drop(address, turn)
            raise

    def give_back(self, address: str) -> None:
        """Let the next in."""
        self._free += 1
        self._in_hand[address] -= 1
        if not self._in_hand[address]:
            del self._in_hand[address]
        self._rank_anew(address)
        while self._free and (following := self._next()) is not None:
            self._let_in(following)

    def _next(self) -> str | None:
        return next((next(iter(rank)) for rank in self._waiting[:-1] if rank), None)

    def _let_in(self, address: str) -> None:
        """Give a turn to the first of an address, unless it waits no more."""
        turn = self._queue_of(address)[0]
        if not turn.done():
            self._count(address)
            turn.set_result(None)
        self._drop(address, turn)
        self._rank_anew(address)

    def _count(self, address: str) -> None:
        self._free -= 1
        self._in_hand[address] += 1
        self._had[address] = self._lately(address) + 1, time.monotonic()
        self._had.move_to_end(address)
        if len(self._had) > _MOST_REMEMBERED:
            self._had.popitem(last=False)

    def _lately(self, address: str) -> int:
        number, at = self._had.get(address, (0, 0.0))
        return number if time.monotonic() - at < _AFRESH_AFTER_S else 0

    def _rank_of(self, address: str) -> int:
        in_hand = self._in_hand[address]
        if in_hand >= self._most_of_address:
            return self._most_of_address + 1
        return 0 if self._lately(address) < _FIRST else in_hand + 1

    def _queue_of(self, address: str) -> "deque[asyncio.Future[None]]":
        if address not in self._ranks:
            self._ranks[address] = self._rank_of(address)
            self._waiting[self._ranks[address]][address] = deque()
        return self._waiting[self._ranks[address]][address]

    def _rank_anew(self, address: str) -> None:
        """Put those of an address who wait where they belong now, behind the others."""
        if address in self._ranks:
            queue = self._waiting[self._ranks[address]].pop(address)
            self._ranks[address] = self._rank_of(address)
            self._waiting[self._ranks[address]][address] = queue

    def _drop(self, address: str, turn: "asyncio.Future[None]") -> None:
        queue = self._queue_of(address)
        if turn in queue:
            queue.remove(turn)
        if not queue:
            del self._waiting[self._ranks.pop(address)][address]
