"""Whether what removes for good can believe the clock: a machine may start days ahead, and be put right soon."""

import logging
from datetime import datetime, timedelta

from apps.agents import queries

logger = logging.getLogger(__name__)

# What tells the time to a machine that started with a wrong one does so within minutes.
LONG_ENOUGH = timedelta(hours=1)


def has_passed(now: datetime) -> bool:
    """Return whether the service has been there, and its clock gone on evenly, for long enough."""
    since = queries.even_since(now)
    if since is not None and now - since >= LONG_ENOUGH:
        return True
    # Whoever asks comes again soon.
    logger.debug("Nothing is removed yet: clock and service have gone on evenly since %s", since)
    return False
