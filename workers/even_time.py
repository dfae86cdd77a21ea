"""Whether what begins by dates, or removes for good, can believe the clock: it may be put right soon."""

import logging
from dataclasses import replace
from datetime import datetime, timedelta

from apps.agents import queries
from apps.core import clock
from apps.core.isolation import TimetablePart

logger = logging.getLogger(__name__)

# What tells the time to a machine that started with a wrong one does so within minutes.
LONG_ENOUGH = timedelta(hours=1)

# What was set by mistake, or by two that disagree, is set again within seconds.
A_MOMENT_S = 5.0


def dated(part: TimetablePart) -> TimetablePart:
    """Return a part that goes by dates as one that waits until the clock has gone on evenly for a moment.

    By a clock that was set for a second, what is due tomorrow would begin, and a series repeat what it has begun.
    """

    def carry_out(*, now: datetime) -> None:
        # Of this very look: the clock may have been right, or wrong, at the `now` before it.
        if (even_now := clock.wall.even_now(A_MOMENT_S)) is not None:
            part.do(now=even_now)

    return replace(part, do=carry_out)


def has_passed(now: datetime) -> bool:
    """Return whether the service has been there, and its clock gone on evenly, for long enough."""
    since = queries.even_since(now)
    if since is not None and now - since >= LONG_ENOUGH:
        return True
    # Whoever asks comes again soon.
    logger.debug("Nothing is removed yet: clock and service have gone on evenly since %s", since)
    return False
