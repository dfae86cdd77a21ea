"""The one door to Celery: apps send tasks by name and never import workers."""

import json
import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import ChannelError

from apps.core import outage

logger = logging.getLogger(__name__)

JOB_CHANGED = "workers.tasks.job_changed"
CLOSE_RUN = "workers.tasks.close_run"
SCHEDULE = "workers.tasks.schedule"
ANALYSE = "workers.tasks.analyse"
CANCEL_LEFTOVERS = "workers.tasks.cancel_leftovers"
OPEN_STAGES = "workers.tasks.open_stages"
RENDER = "workers.tasks.render"
DELIVER = "workers.tasks.deliver"
ASK_RECIPIENTS = "workers.tasks.ask_recipients"
INDEX = "workers.tasks.index_archive"
TICK = "workers.tasks.tick"
TEND = "workers.tasks.tend"
RETAIN = "workers.tasks.retain"
COUNT_STORED = "workers.tasks.count_stored"
# Imports, archives and deletions: of these a worker has one piece in hand at a time (`workers.bulky`).
BULKY = "workers.tasks.take_bulky"

# Looks of the timetable never wait behind what they look after.
CLOCK = "clock"
CLOCK_TASKS = (TICK, TEND, INDEX)
# What may take from seconds to hours waits in a queue of its own, so that no step of a measurement waits for it.
LONG = "long"
LONG_TASKS = (RENDER, DELIVER, ASK_RECIPIENTS, BULKY, RETAIN, COUNT_STORED)
SHORT = "celery"

# With so many messages waiting in its queue, one that only reminds of a row is not added.
CROWDED = 50
# Among so many of the messages for long work it is looked whether one like it waits.
_LOOKED_AT = 1000


def send(task: str, *args: object) -> None:
    """Ask a worker, once the transaction is committed, to run `task`; losing the message does no harm.

    The rows are the queue and a beat tick looks again, so a broker that is away is logged and not raised. A message
    for long work only wakes: one that waits is enough, however much there is to do.
    """
    transaction.on_commit(lambda: _publish(task, args), robust=True)


def remind(task: str, *args: object) -> None:
    """Ask as `send` does for what should have been asked for already: a message was lost, or its worker died.

    While its queue is full nothing is asked: most likely the first message still waits in it, and a look that comes
    every few seconds must not make it longer. Long work is not asked for twice anyway.
    """
    if task in LONG_TASKS or _length(queue_of(task)) < CROWDED:
        send(task, *args)


def queue_of(task: str) -> str:
    """Return the name of the queue in which a task waits."""
    if task in LONG_TASKS:
        return LONG
    return CLOCK if task in CLOCK_TASKS else SHORT


def _length(name: str) -> int:
    """Return how many messages wait in a queue; 0 if the broker is away or knows none of the name."""

    def look() -> int:
        with current_app.pool.acquire(block=True) as held:
            return int(held.default_channel.queue_declare(name, passive=True).message_count)

    try:
        return outage.ask_broker(look)
    except (ChannelError, *outage.BROKER_ERRORS):
        return 0


def _waits(task: str, args: tuple[object, ...]) -> bool:
    """Say whether the broker has a message like this that no worker took yet."""
    if task not in LONG_TASKS:
        return False
    with current_app.pool.acquire(block=True) as held:
        waiting = held.default_channel.client.lrange(LONG, 0, _LOOKED_AT)
    heads = [json.loads(message)["headers"] for message in waiting]
    return any((head.get("task"), head.get("argsrepr")) == (task, repr(args)) for head in heads)


def _publish(task: str, args: tuple[object, ...]) -> None:
    def publish() -> None:
        if not _waits(task, args):
            current_app.send_task(task, args=args, retry=False, ignore_result=True)

    try:
        outage.ask_broker(publish)
    except outage.BROKER_ERRORS as error:
        logger.warning("The message broker is away, the next tick will do %s: %s", task, error)
