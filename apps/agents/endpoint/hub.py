"""The polls that wait in this process, and what wakes them: Redis at once, a sweep of the database in any case."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import UUID

from django.utils import timezone
from redis.exceptions import RedisError

from apps.agents import queries, services, wake
from apps.agents.endpoint import database
from apps.agents.services import Heartbeat, Unsent
from apps.core import broker, sessions, starvation

logger = logging.getLogger(__name__)

SWEEP_EVERY_S = 1.5
HEARTBEATS_EVERY_S = 2.0
# What is asked every few seconds is given up after so long (s), well before the agents' silence counts: a session
# that hangs keeps one turn waiting, and the next has another.
TURN_WITHIN_S = 8.0
RECONNECT_AFTER_S = 0.5
# How long a token is believed without looking at the database: for some polls of 20 s, or a thousand idle agents
# would have it looked up 50 times a second. A retirement is also called out at once.
TRUST_S = 120.0
# Far more than there are agents.
MOST_KNOWN = 100_000
# By agent: one of its processes, and the highest number that it gave.
Latest = dict[int, tuple[UUID, int]]


class Waiter:
    """One poll that waits for something to do on its node."""

    def __init__(self, node_id: int, stopping: frozenset[str]) -> None:
        self.node_id = node_id
        # Jobs the agent needs no call for: it is stopping them already.
        self.stopping = stopping
        self.is_over = False
        self.is_revoked = False
        # The word is out that another process may work for the node.
        self.is_doubted = False
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] = self._loop.create_future()

    def wake(self) -> None:
        """Have the poll look."""
        if not self._future.done():
            self._future.set_result(None)

    def end(self) -> None:
        """Have the poll answer now, whatever there is."""
        self.is_over = True
        self.wake()

    def revoke(self) -> None:
        """Have the poll answer that its agent's token no longer holds."""
        self.is_revoked = True
        self.end()

    def doubt(self) -> None:
        """Have the poll look whether its process is still the one at work."""
        self.is_doubted = True
        self.wake()

    def rearm(self) -> None:
        """Forget earlier calls; to be done before looking, so that none is missed."""
        if self._future.done():
            self._future = self._loop.create_future()

    async def wait(self, deadline: float) -> None:
        """Wait for a call, until `deadline` (the loop's time) at most."""
        timer = self._loop.call_at(deadline, self.wake)
        try:
            await self._future
        finally:
            timer.cancel()


class Hub:
    """What one server process knows of its agents; its tasks run in the loop that first asks for it."""

    def __init__(self) -> None:
        self._waiters: dict[int, Waiter] = {}
        self._trusted: dict[str, tuple[queries.Credentials, float]] = {}
        # Prefixes that were an agent's when they were last read, the latest of them.
        self._known: OrderedDict[str, None] = OrderedDict()
        self._heard: dict[int, Heartbeat] = {}
        # By agent, of the process at work: the latest poll, and the latest other request.
        self._latest_polls: Latest = {}
        self._latest_requests: Latest = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Start listening in the running loop, once."""
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        self._loop = loop
        self._waiters.clear()
        starvation.heard.note()
        starvation.tried_to_hear.note()
        self._tasks = [
            loop.create_task(self._listen(), name="agents-listen"),
            loop.create_task(_every(SWEEP_EVERY_S, self._sweep), name="agents-sweep"),
            loop.create_task(_every(HEARTBEATS_EVERY_S, self._write_heartbeats), name="agents-heartbeats"),
        ]

    def enter(self, waiter: Waiter) -> None:
        """Let a poll wait; an older one of the same node is answered, for its agent has gone on."""
        older = self._waiters.get(waiter.node_id)
        if older is not None:
            older.end()
        self._waiters[waiter.node_id] = waiter

    def leave(self, waiter: Waiter) -> None:
        """Take a poll out."""
        if self._waiters.get(waiter.node_id) is waiter:
            del self._waiters[waiter.node_id]

    def hear(
        self,
        agent_id: int,
        offset_s: float | None = None,
        error_s: float | None = None,
        unsent_s: float | None = None,
    ) -> None:
        """Note that an agent was heard, to be written with others'; what it does not say is as it was."""
        now = timezone.now()
        unsent = None
        if unsent_s is not None:
            unsent = Unsent(now - timedelta(seconds=unsent_s) if unsent_s else None)
        beat = Heartbeat(agent_id, now, offset_s, error_s, unsent)
        self._heard[agent_id] = beat.after(self._heard.get(agent_id))

    def is_repeated(self, agent_id: int, instance: UUID | None, number: int | None) -> bool:
        """Note a poll; True if it, or a later one of the same process, came before: a proxy repeats it."""
        return not _is_later(self._latest_polls, agent_id, instance, number)

    def is_new(self, agent_id: int, instance: UUID | None, number: int | None) -> bool:
        """Note a request; False if it, or a later one of the same process, came before."""
        return _is_later(self._latest_requests, agent_id, instance, number)

    def distrust(self, prefix: str) -> None:
        """Read the credentials of a token's prefix again when they are needed next."""
        self._trusted.pop(prefix, None)

    async def credentials(self, prefix: str, address: str = "") -> queries.Credentials | None:
        """Return the credentials of a token's prefix, believing for a while what was read before.

        One that was no agent's when it was last read, or never was, is looked up in the turn of its address.
        """
        now = time.monotonic()
        entry = self._trusted.get(prefix)
        if entry is not None and now < entry[1]:
            return entry[0]
        if prefix in self._known:
            credentials = await database.run(queries.credentials_of, prefix)
        else:
            credentials = await database.run_for_stranger(address, queries.credentials_of, prefix)
        if credentials is None:
            self._trusted.pop(prefix, None)
            self._known.pop(prefix, None)
        else:
            self._trusted[prefix] = (credentials, now + TRUST_S)
            self._know(prefix)
        return credentials

    def _know(self, prefix: str) -> None:
        self._known[prefix] = None
        self._known.move_to_end(prefix)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def take_call(self, message: str) -> None:
        """Act on a call: nodes to look at, or a node whose agent's token no longer holds."""
        for word in message.split(","):
            number = word.lstrip(wake.GONE + wake.AGAIN)
            if not number.isdecimal():
                continue
            waiter = self._waiters.get(int(number))
            if word.startswith((wake.GONE, wake.AGAIN)):
                self._trusted = {
                    prefix: entry for prefix, entry in self._trusted.items() if entry[0].node_id != int(number)
                }
            if waiter is not None and word.startswith(wake.GONE):
                waiter.revoke()
            elif waiter is not None and word.startswith(wake.AGAIN):
                waiter.doubt()
            elif waiter is not None:
                waiter.wake()

    async def _listen(self) -> None:
        """Hand calls on for ever; while Redis is away the sweep does it alone."""
        is_away = False
        while True:
            try:
                # Reconnecting is ours: a subscription renewed in silence would hide what was missed.
                client = broker.listening_client()
                async with client, client.pubsub(ignore_subscribe_messages=True) as subscription:
                    await subscription.subscribe(wake.CHANNEL)
                    if is_away:
                        logger.info("Redis is back")
                    is_away = False
                    # What was called out meanwhile went unheard.
                    self._trusted.clear()
                    await self._sweep()
                    async for message in subscription.listen():
                        self.take_call(message["data"].decode("ascii", "replace"))
            except (RedisError, OSError) as error:
                if not is_away:
                    logger.warning("Redis is away, agents' polls are woken by the sweep: %s", error)
                is_away = True
            await asyncio.sleep(RECONNECT_AFTER_S)

    async def _sweep(self) -> None:
        """Look, in one query, for what waits for any of the waiting nodes."""
        if not self._waiters:
            return
        jobs = await database.run(queries.jobs_to_attend)
        for node_id, job_ids in jobs.items():
            waiter = self._waiters.get(node_id)
            if waiter is not None and not waiter.stopping.issuperset(job_ids):
                waiter.wake()

    async def _write_heartbeats(self) -> None:
        heartbeats, self._heard = self._heard, {}
        try:
            left = await database.run(
                services.record_heartbeats, heartbeats=list(heartbeats.values()), now=timezone.now()
            )
            heartbeats = {pk: heartbeats[pk] for pk in left}
            if not heartbeats:
                starvation.heard.note()
        finally:
            self._heard = heartbeats | {pk: beat.after(heartbeats.get(pk)) for pk, beat in self._heard.items()}
            starvation.tried_to_hear.note()


async def _every(period_s: float, step: Callable[[], Awaitable[None]]) -> None:
    """Do `step` for ever, `period_s` apart; a failure is logged and the next turn tries again."""
    while True:
        try:
            with sessions.answered_within(TURN_WITHIN_S):
                await step()
        except database.Unavailable as error:
            logger.warning("The database is away: %s", error)
        except Exception:
            logger.exception("%s failed", step)
        await asyncio.sleep(period_s)


def _is_later(latest: Latest, agent_id: int, instance: UUID | None, number: int | None) -> bool:
    """Note a number that a process gave, if it can be compared; False if it gave that one, or a later one, before."""
    if instance is None or number is None:
        return True
    before = latest.get(agent_id)
    if before is not None and before[0] == instance and number <= before[1]:
        return False
    latest[agent_id] = (instance, number)
    return True
