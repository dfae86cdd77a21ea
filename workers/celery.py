"""The Celery application and its timetable."""

import logging
import os
from contextlib import nullcontext
from typing import Any

from celery import Celery, Task
from django.db import close_old_connections
from kombu import Exchange, Queue

from apps.core import queue, shutdown, timeouts
from workers import ending, signs

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings.production")
logger = logging.getLogger(__name__)
# Each worker would import every page for Django's checks, a second of a core, and throw away what they find.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")


class KeepingTask(Task):
    """A task that uses the connection to the database of the task before it, with the limits that it needs."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Carry the task out."""
        if self.request.called_directly or self.request.is_eager:
            return super().__call__(*args, **kwargs)
        close_old_connections()
        limits = timeouts.long_work if self.name in queue.LONG_TASKS else nullcontext
        try:
            with shutdown.heard(), limits():
                return super().__call__(*args, **kwargs)
        except shutdown.ShuttingDown:
            # The rows are the queue: the timetable finds what is left.
            logger.info("%s is left, for the worker stops: it is carried on after the next start", self.name)
            return None


app = Celery("fathom", task_cls=KeepingTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
# A worker that is told of no queue looks after all of them.
_QUEUES = (queue.SHORT, queue.CLOCK, queue.LONG)
app.conf.update(
    task_ignore_result=True,
    task_acks_late=False,
    task_default_queue=_QUEUES[0],
    task_queues=[Queue(name, Exchange(name), routing_key=name) for name in _QUEUES],
    task_routes={task: {"queue": queue.queue_of(task)} for task in (*queue.LONG_TASKS, *queue.CLOCK_TASKS)},
    worker_prefetch_multiplier=1,
    # KiB: a process that a large report or archive made so big gives its memory back by starting anew.
    worker_max_memory_per_child=500_000,
    broker_connection_retry_on_startup=True,
    # A broker may answer, and refuse what is given to it: its disk is full.
    broker_channel_error_retry=True,
    worker_consumer="workers.consuming:PatientConsumer",
    # Truth is in the database: a message is a nudge and may be lost, or come late, without harm.
    task_time_limit=120,
    worker_hijack_root_logger=False,
    # It concerns tasks that are acknowledged late, of which there is none; unsaid, each lost connection warns of it.
    worker_cancel_long_running_tasks_on_connection_loss=True,
    # Celery would open a new connection for each task; CONN_MAX_AGE says how long one is kept.
    CELERY_DB_REUSE_MAX=10**9,
    timezone="UTC",
    # A look that comes late is one too many: the next is on its way. Retention waits behind what takes hours.
    beat_schedule={
        "tick": {"task": queue.TICK, "schedule": 1.0, "options": {"expires": 1.0}},
        "tend": {"task": queue.TEND, "schedule": 5.0, "options": {"expires": 5.0}},
        "retain": {"task": queue.RETAIN, "schedule": 3600.0, "options": {"expires": 24 * 3600.0}},
        "count": {"task": queue.COUNT_STORED, "schedule": 3600.0, "options": {"expires": 24 * 3600.0}},
        "index": {"task": queue.INDEX, "schedule": 20.0, "options": {"expires": 20.0}},
    },
)
app.autodiscover_tasks(["workers"])
# By its name: the timetable loads nothing that asks the database.
app.steps["worker"].add("workers.beginning:AwaitTables")
app.steps["worker"].add(signs.GiveSigns)
app.steps["worker"].add(ending.LeaveTasks)
app.steps["consumer"].add(signs.FollowLoop)
