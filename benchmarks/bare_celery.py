"""The plainest Celery application: one task that does nothing."""

import os

from celery import Celery

# Not the current one: to whoever imports this (the tests do) the service's own stays that.
app = Celery("bare", broker=os.environ.get("BARE_BROKER"), set_as_current=False)
app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=1, broker_connection_retry_on_startup=True)


@app.task(name="nothing")
def do_nothing() -> None:
    """Do nothing."""
