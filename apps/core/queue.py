"""The one door to Celery: apps send tasks by name and never import workers."""

import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

JOB_CHANGED = "workers.tasks.job_changed"
SCHEDULE = "workers.tasks.schedule"
ANALYSE = "workers.tasks.analyse"
CANCEL_LEFTOVERS = "workers.tasks.cancel_leftovers"
DELETE = "workers.tasks.delete"
OPEN_STAGES = "workers.tasks.open_stages"
RENDER = "workers.tasks.render"
DELIVER = "workers.tasks.deliver"
INDEX = "workers.tasks.index_archive"
RETAIN = "workers.tasks.retain"
ADVANCE_IMPORT = "workers.tasks.advance_import"
TAKE_ARCHIVES = "workers.tasks.take_archives"

# What may take from seconds to hours waits in a queue of its own, so that no step of a measurement waits for it.
LONG = "long"
LONG_TASKS = (RENDER, DELIVER, ADVANCE_IMPORT, TAKE_ARCHIVES, DELETE, RETAIN)


def send(task: str, *args: object) -> None:
    """Ask a worker, once the transaction is committed, to run `task`; losing the message does no harm.

    The rows are the queue and a beat tick looks again, so a broker that is away is logged and not raised.
    """
    transaction.on_commit(lambda: _publish(task, args), robust=True)


def _publish(task: str, args: tuple[object, ...]) -> None:
    try:
        current_app.send_task(task, args=args, retry=False, ignore_result=True)
    except (OperationalError, OSError) as error:
        logger.warning("The message broker is away, the next tick will do %s: %s", task, error)
