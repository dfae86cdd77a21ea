"""How a worker takes messages: a broker that answers and takes nothing is waited for like one that is away."""

from typing import Any

from celery.worker.consumer import Consumer
from celery.worker.state import maybe_shutdown

from apps.core import outage
from workers import waiting


class PatientConsumer(Consumer):
    """Celery's consumer, which stays in the process it has until the broker takes what is given to it."""

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Say that the connection is begun anew, once that is of use."""
        super().on_connection_error_after_connected(exc)
        if isinstance(exc, self.channel_errors):
            waiting.until_none(self._trouble, step="goes on")

    def _trouble(self) -> str | None:
        maybe_shutdown()
        controller: Any = self.controller
        controller.life.beat()
        return outage.trouble_of_broker()
