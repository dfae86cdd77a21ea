"""The stop of a worker: what its processes are at has a moment to end by itself, and is left then (core.shutdown)."""

import contextlib
import os
import threading
from typing import Any

from celery import bootsteps
from celery.signals import worker_process_init, worker_shutting_down

from apps.core import shutdown
from workers import children

# Most steps of measurements take less (s).
PATIENCE_S = 1.5
# Whoever has not heard it, in a program of its own or a finaliser, is told again after so long (s).
_AGAIN_S = 1.0


class LeaveTasks(bootsteps.StartStopStep):
    """Have the processes of a worker leave their tasks soon after it was told to stop."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **options: Any) -> None:
        self._worker = worker
        worker_process_init.connect(_ignore)
        # Celery sends it where the stop is asked for, in the handler of a signal.
        worker_shutting_down.connect(self._begin)
        super().__init__(worker, **options)

    def _begin(self, **_of_celery: Any) -> None:
        threading.Thread(target=self._tell_all, name="ending", daemon=True).start()

    def _tell_all(self) -> None:
        wait = threading.Event().wait
        wait(PATIENCE_S)
        while True:
            for child in children.of_worker(self._worker):
                with contextlib.suppress(OSError):
                    os.kill(child.pid, shutdown.SIGNAL)
            wait(_AGAIN_S)


def _ignore(**_of_celery: Any) -> None:
    shutdown.ignore()
