"""Whoever needs a folder waits for a backup or a restore that is at it, and says so."""

import datetime
import os
import time
from collections.abc import Callable

from launch.home import HeldError, Home

_LOOK_S, _TOLD_EVERY_S = 0.2, 10.0


def holder(what: str) -> str:
    """Return how others are told of this process, such as that it is `a backup to FILE`."""
    return f"{what}, process {os.getpid()}, since {datetime.datetime.now():%Y-%m-%d %H:%M:%S}"


def take(
    home: Home, report: Callable[[str, str], None], part: str, what: str = "", is_over: Callable[[], bool] = bool
) -> bool:
    """Take a folder for a service, or for `what`, after a backup or restore; False if `is_over` comes first.

    HomeError if a service has it, or it cannot be written.
    """
    told_at = float("-inf")
    while not is_over():
        try:
            home.lock(holder(what) if what else "")
        except HeldError as error:
            if time.monotonic() - told_at > _TOLD_EVERY_S:
                told_at = time.monotonic()
                report(part, f"waits: {error}")
            time.sleep(_LOOK_S)
        else:
            return True
    return False
