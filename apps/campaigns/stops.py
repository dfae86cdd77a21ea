"""The short way to end what runs have under way; who knows it is named in the settings."""

import logging
from collections.abc import Collection

from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)


def stop_runs(*, run_ids: Collection[int]) -> None:
    """Once the transaction is committed, have all that the runs carry out stopped.

    Campaigns know nothing of agents: RUN_STOPPER names a function of the same signature that does. It is called here
    and now, for traffic that somebody wants ended must not wait until a worker is free; if it fails, workers do it.
    """
    if run_ids:
        transaction.on_commit(lambda: _stop(run_ids))


def _stop(run_ids: Collection[int]) -> None:
    try:
        import_string(settings.RUN_STOPPER)(run_ids=run_ids)
    except DatabaseError:
        logger.exception("Runs could not be stopped at once; workers will do it")
