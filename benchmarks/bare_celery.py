"""The plainest Celery application: one task that does nothing."""

import os

from celery import Celery

app = Celery("bare", broker=os.environ.get("BARE_BROKER"))
app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=1, broker_connection_retry_on_startup=True)


@app.task(name="nothing")
def do_nothing() -> None:
    """Do nothing."""
