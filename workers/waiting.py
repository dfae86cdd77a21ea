"""Wait, before a worker or the timetable begins or goes on, until what it cannot work without is there."""

import contextlib
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

import redis

from apps.core import holding, signs

logger = logging.getLogger(__name__)

# The file that whoever supervises this process looks at; without one there is none.
FILE = "FATHOM_SIGN"
LOOK_EVERY_S = 1.0


def until_none(trouble: Callable[[], str | None], *, step: str = "begins") -> None:
    """Return once there is no `trouble`; each new one is a line in the log, which says what `step` waits.

    Meanwhile the process gives its supervisor signs of life: to start it anew would not help.
    """
    last_words = ""
    while (words := trouble()) is not None:
        if words != last_words:
            logger.warning("This process waits before it %s: %s", step, words)
            last_words = words
        if os.environ.get(FILE):
            with contextlib.suppress(OSError):
                Path(os.environ[FILE]).touch()
        time.sleep(LOOK_EVERY_S)
    if last_words:
        logger.warning("This process %s", step)


def trouble_of_timetable() -> str | None:
    """Return why the timetable cannot begin, as far as others noted: it has no connection to the database."""
    try:
        steps = signs.noted_steps()
    except redis.RedisError:
        return None
    return None if steps is None else holding.judge(steps)
