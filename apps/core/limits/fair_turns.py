"""Turns in one event loop: some of each asker (an address, a team), some in all, dealt out fairly.

Who has had few lately is let in first, then whoever has the fewest in hand, of these the one that waits longest since
its turn before. A visitor's page waits for none of thirty addresses that ask on and on.
"""

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable

# So many turns an asker has before all that ask on and on: a page with what belongs to it.
FIRST = 16
# One that had none for so long (s) has its first ones again; the latest addresses are remembered.
_AFRESH_AFTER_S = 10.0
_MOST_REMEMBERED = 10_000


class Lately:
    """How many turns each asker had lately: one that had none for so long (s) begins anew."""

    def __init__(self, afresh_after_s: float | None = None) -> None:
        self._afresh_after_s = afresh_after_s
        # How many turns one has had, and when the last.
        self._had: OrderedDict[Hashable, tuple[int, float]] = OrderedDict()

    def count(self, asker: Hashable) -> None:
        """Count one more turn."""
        self._had[asker] = self.number(asker) + 1, time.monotonic()
        self._had.move_to_end(asker)
        if len(self._had) > _MOST_REMEMBERED:
            self._had.popitem(last=False)

    def number(self, asker: Hashable) -> int:
        """Return how many it had."""
        number, at = self._had.get(asker, (0, 0.0))
        afresh_after_s = _AFRESH_AFTER_S if self._afresh_after_s is None else self._afresh_after_s
        return number if time.monotonic() - at < afresh_after_s else 0


class FairTurns:
    """So many turns in all, of one asker fewer; the `first` ones of each go before those of all who ask on and on.

    `at_present` says how many may be in hand for now, at least one.
    """

    def __init__(
        self, most: int, most_of_one: int, *, first: int = FIRST, at_present: Callable[[], int] | None = None
    ) -> None:
        self._first = first
        self._at_present = at_present or (lambda: most)
        self._taken, self._most_of_one = 0, most_of_one
        self._in_hand = Counter[Hashable]()
        self._lately = Lately()
        # Who waits, by rank: who has had few, then by what is in hand; in the last are those that may have no more.
        self._waiting: list[OrderedDict[Hashable, deque[asyncio.Future[None]]]] = [
            OrderedDict() for _rank in range(most_of_one + 2)
        ]
        self._ranks: dict[Hashable, int] = {}

    def waiting(self, asker: Hashable) -> int:
        """Return how many of one wait for a turn."""
        return len(self._waiting[self._ranks[asker]][asker]) if asker in self._ranks else 0

    async def take(self, asker: Hashable, *, within_s: float | None) -> None:
        """Wait for a turn, with None for however long; TimeoutError if none comes in time."""
        if self._free > 0 and self._in_hand[asker] < self._most_of_one:
            self._count(asker)
            return
        turn = asyncio.get_running_loop().create_future()
        self._queue_of(asker).append(turn)
        try:
            async with asyncio.timeout(within_s):
                await turn
        except BaseException:
            # It may have come at the moment in which nobody waited any more.
            if turn.done() and not turn.cancelled():
                self.give_back(asker)
            else:
                self._drop(asker, turn)
            raise

    def give_back(self, asker: Hashable) -> None:
        """Let the next in."""
        self._taken -= 1
        self._in_hand[asker] -= 1
        if not self._in_hand[asker]:
            del self._in_hand[asker]
        self._rank_anew(asker)
        while self._free > 0 and (following := self._next()) is not None:
            self._let_in(following)

    @property
    def _free(self) -> int:
        return self._at_present() - self._taken

    def _next(self) -> Hashable | None:
        return next((next(iter(rank)) for rank in self._waiting[:-1] if rank), None)

    def _let_in(self, asker: Hashable) -> None:
        """Give a turn to the first of an asker, unless it waits no more."""
        turn = self._queue_of(asker)[0]
        if not turn.done():
            self._count(asker)
            turn.set_result(None)
        self._drop(asker, turn)
        self._rank_anew(asker)

    def _count(self, asker: Hashable) -> None:
        self._taken += 1
        self._in_hand[asker] += 1
        self._lately.count(asker)

    def _rank_of(self, asker: Hashable) -> int:
        in_hand = self._in_hand[asker]
        if in_hand >= self._most_of_one:
            return self._most_of_one + 1
        return 0 if self._lately.number(asker) < self._first else in_hand + 1

    def _queue_of(self, asker: Hashable) -> "deque[asyncio.Future[None]]":
        if asker not in self._ranks:
            self._ranks[asker] = self._rank_of(asker)
            self._waiting[self._ranks[asker]][asker] = deque()
        return self._waiting[self._ranks[asker]][asker]

    def _rank_anew(self, asker: Hashable) -> None:
        """Put those of an asker who wait where they belong now, behind the others."""
        if asker in self._ranks:
            queue = self._waiting[self._ranks[asker]].pop(asker)
            self._ranks[asker] = self._rank_of(asker)
            self._waiting[self._ranks[asker]][asker] = queue

    def _drop(self, asker: Hashable, turn: "asyncio.Future[None]") -> None:
        queue = self._queue_of(asker)
        if turn in queue:
            queue.remove(turn)
        if not queue:
            del self._waiting[self._ranks.pop(asker)][asker]
