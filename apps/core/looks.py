"""What many sockets ask of the database: looked up once for all who ask the same, in a few threads of their own."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from apps.core.connections import give_back

K = TypeVar("K")
T = TypeVar("T")

# So many connections the sockets of a web process use at most.
THREADS = 2
_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="sockets")
# So long (s) what was seen is kept for who may be told something old.
_KEPT_S = 60.0


async def in_pool(work: Callable[[], T]) -> T:
    """Return what is looked up in a thread of the sockets, whose connection is given back."""
    return await asyncio.get_running_loop().run_in_executor(_pool, _returning, work)


def _returning(work: Callable[[], T]) -> T:
    give_back()
    try:
        return work()
    finally:
        give_back()


class Looks(Generic[K, T]):
    """Looks things up; of each at most one look is under way, and one waits for all who came after its beginning."""

    def __init__(self, look: Callable[[K], T], run: Callable[[Callable[[], T]], Awaitable[T]] = in_pool) -> None:
        self._look_up, self.run = look, run
        self._seen: OrderedDict[K, tuple[float, T]] = OrderedDict()
        self._waiting: dict[K, asyncio.Task[T]] = {}
        self._under_way: dict[K, asyncio.Task[T]] = {}

    async def ask(self, key: K, *, within_s: float = 0.0) -> T:
        """Return what is seen in a look that begins now or later, or began within the last `within_s` (s)."""
        since, seen = self._seen.get(key, (0.0, None))
        if seen is not None and time.monotonic() - since < within_s:
            return seen
        look = self._waiting.get(key)
        if look is None:
            look = self._waiting[key] = asyncio.create_task(self._look(key, self._under_way.get(key)))
        return await asyncio.shield(look)

    async def _look(self, key: K, earlier: "asyncio.Task[T] | None") -> T:
        task = asyncio.current_task()
        try:
            if earlier is not None:
                await asyncio.wait([earlier])
            self._under_way[key] = self._waiting.pop(key)
            begun = time.monotonic()
            seen = await self.run(lambda: self._look_up(key))
            self._keep(key, begun, seen)
            return seen
        finally:
            for tasks in (self._waiting, self._under_way):
                if tasks.get(key) is task:
                    del tasks[key]

    def _keep(self, key: K, begun: float, seen: T) -> None:
        self._seen[key] = begun, seen
        self._seen.move_to_end(key)
        while begun - next(iter(self._seen.values()))[0] > _KEPT_S:
            self._seen.popitem(last=False)
