"""Signs of life of workers and of the timetable: at the broker for /health/, in a file for who supervises them."""

import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import redis
from celery import bootsteps
from celery.beat import Scheduler
from celery.signals import worker_process_init
from celery.worker import state
from django.conf import settings

from apps.core import clock, connections, signs
from workers import children, waiting

logger = logging.getLogger(__name__)

FILE = waiting.FILE
TURN = "workers.tasks.tick"
EVERY_S = 2.0
# A main loop that has not come round for so long has come to a halt (s).
_PATIENCE_S = 10.0
# The timetable comes round so often, due or not (s).
_LONGEST_SLEEP_S = 2.0


class Life:
    """Whether the main loop of this process comes round; a thread of its own says so, as long as it does.

    A loop that waits for a broker that is away has not come to a halt: no new process would do better. `is_stuck`
    says whether it comes round and yet does nothing. What a worker's children do is looked at between signs.
    """

    def __init__(
        self,
        name: str,
        *,
        is_stuck: Callable[[], bool] = lambda: False,
        queues: Sequence[str] = (),
        offspring: children.Children | None = None,
    ) -> None:
        self._name = name
        self._offspring = offspring
        self._queues = queues
        self._is_stuck = is_stuck
        self._started = self._pulse = time.monotonic()
        self._turn: float | None = None
        self._file = Path(os.environ[FILE]) if os.environ.get(FILE) else None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="signs-of-life", daemon=True)

    def start(self) -> None:
        """Begin to give signs."""
        self._thread.start()

    def stop(self) -> None:
        """Give no more, and withdraw the last: the process ends as it should."""
        self._ended.set()
        with contextlib.suppress(redis.RedisError):
            signs.withdraw(self._name)

    def beat(self) -> None:
        """Note that the main loop came round."""
        self._pulse = time.monotonic()

    def note_turn(self) -> None:
        """Note that a turn of the timetable was taken."""
        self._turn = time.monotonic()

    def _run(self) -> None:
        while not self._ended.is_set():
            if self._offspring is not None:
                self._offspring.watch()
            if self._give() and self._file is not None:
                with contextlib.suppress(OSError):
                    self._file.touch()
            self._ended.wait(EVERY_S)

    def _give(self) -> bool:
        """Give the sign at the broker; return whether this process lives as far as it can."""
        now = time.monotonic()
        try:
            if now - self._pulse > _PATIENCE_S or self._is_stuck():
                # It may be the broker that the loop waits for.
                signs.broker_started()
                return False
            turn_ago_s = None if self._turn is None else now - self._turn
            running_s = now - self._started
            hung_s = None if self._offspring is None else self._offspring.hung_s()
            signs.give(self._name, running_s=running_s, turn_ago_s=turn_ago_s, queues=self._queues, hung_s=hung_s)
        except redis.RedisError:
            # The loop had no chance to come round meanwhile: it has its whole time again once the broker is back.
            self._pulse = time.monotonic()
        return True


class _Backlog:
    """Whether messages wait in a worker's queues although it does nothing, and has for a while.

    What its children have under way is work, unless they hang and cannot even be killed.
    """

    def __init__(self, queues: list[str], offspring: children.Children) -> None:
        self._queues = queues
        self._offspring = offspring
        self._taken = -1
        self._since = 0.0

    def is_stuck(self) -> bool:
        """Look, and return whether it was so at each look for longer than a halt takes; RedisError if away."""
        count, now = state.all_total_count[0], time.monotonic()
        is_at_work = bool(state.active_requests) and not self._offspring.are_beyond_help()
        if count != self._taken or is_at_work or not signs.waiting_in(self._queues):
            self._taken, self._since = count, now
        return now - self._since > _PATIENCE_S


class GiveSigns(bootsteps.StartStopStep):
    """A worker gives signs as long as it runs, and fits the connections of its processes before it starts them."""

    # What is forked before the thread begins is not forked beside it.
    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **options: Any) -> None:
        connections.fit_to_worker(settings.DATABASES["default"])
        queues = list(worker.app.amqp.queues.consume_from)
        offspring = children.Children(
            lambda: children.of_worker(worker),
            after_s=settings.HANG_AFTER_S,
            most_bytes=settings.WORKER_MEMORY_MIB << 20,
        )
        backlog = _Backlog(queues, offspring)
        worker.life = Life(worker.hostname, is_stuck=backlog.is_stuck, queues=queues, offspring=offspring)
        worker_process_init.connect(offspring.begin_ticking)
        super().__init__(worker, **options)

    def start(self, worker: Any) -> None:
        """Begin."""
        worker.life.start()

    def stop(self, worker: Any) -> None:
        """End."""
        worker.life.stop()

    def terminate(self, worker: Any) -> None:
        """End at once."""
        worker.life.stop()


class FollowLoop(bootsteps.StartStopStep):
    """The worker's main loop notes each second that it comes round; anew with each connection to the broker."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, consumer: Any) -> None:
        """Begin, with what has been taken so far."""
        self._turns = state.total_count[TURN]
        consumer.timer.call_repeatedly(1.0, self._come_round, (consumer.controller.life,))

    def _come_round(self, life: Life) -> None:
        life.beat()
        if state.total_count[TURN] != self._turns:
            self._turns = state.total_count[TURN]
            life.note_turn()


class Timetable(Scheduler):
    """Celery's timetable, which gives signs of life and goes on when the clock is set back.

    What it sent last, and when each is due, are times of the wall clock: it would wait until that has come so far
    again. So it begins anew.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        waiting.until_none(waiting.trouble_of_timetable)
        self._life: Life | None = None
        self._clock = clock.WallClock()
        self._sent = time.monotonic()
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Take one turn and return how long (s) to sleep until the next."""
        if self._life is None:
            self._life = Life(f"{signs.TIMETABLE}@{socket.gethostname()}", is_stuck=self._is_stuck)
            self._life.start()
        self._life.beat()
        if by := self._clock.stepped_back():
            logger.warning("The clock was set back by %s: the timetable begins anew", by)
            self._begin_anew()
        return min(super().tick(*args, **kwargs) or 0.0, _LONGEST_SLEEP_S)

    def apply_async(self, *args: Any, **kwargs: Any) -> Any:
        """Send what is due."""
        self._sent = time.monotonic()
        return super().apply_async(*args, **kwargs)

    def close(self) -> None:
        """End."""
        if self._life is not None:
            self._life.stop()
        super().close()

    def _begin_anew(self) -> None:
        for entry in self.schedule.values():
            entry.last_run_at = entry.default_now()
        # It is filled from the entries.
        self._heap = None

    def _is_stuck(self) -> bool:
        """Return whether nothing was sent for so long, though something is due each second; RedisError if away."""
        if not self.schedule or time.monotonic() - self._sent < _PATIENCE_S:
            return False
        try:
            signs.broker_started()
        except redis.RedisError:
            # It waited for the broker, and has its whole time again.
            self._sent = time.monotonic()
            raise
        return True
