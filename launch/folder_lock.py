"""Whoever needs a folder waits for a backup or a restore that is at it, and says so; a backup, for a start, too."""

import datetime
import os
import time
from collections.abc import Callable

from launch.home import HeldError, Home, RunsError

_LOOK_S, _TOLD_EVERY_S = 0.2, 10.0
# A database that starts, such as after a power cut, has its journal to carry out first.
_UNANSWERED_S = 300.0


def holder(what: str) -> str:
    """Return how others are told of this process, such as that it is `a backup to FILE`."""
    return f"{what}, process {os.getpid()}, since {datetime.datetime.now():%Y-%m-%d %H:%M:%S}"


def take(
    home: Home, report: Callable[[str, str], None], part: str, what: str = "", is_over: Callable[[], bool] = bool
) -> bool:
    """Take a folder for a service, or for `what`, after a backup or restore; False if `is_over` comes first.

    HomeError if a service has it, or it cannot be written.
    """
    wait = _Wait(report, part)
    while not is_over():
        try:
            home.lock(holder(what) if what else "")
        except HeldError as error:
            wait(str(error))
        else:
            return True
    return False


def take_or_find(
    home: Home, report: Callable[[str, str], None], part: str, what: str, answers: Callable[[str], bool]
) -> str:
    """Return where the database of the folder's service is, after its start; "" if it has none, and is taken.

    One that does not answer, or does not say where it is, is waited for some minutes. HomeError if it never says
    that, or the folder cannot be written.
    """
    wait, given_up_at = _Wait(report, part), time.monotonic() + _UNANSWERED_S
    while True:
        try:
            home.lock(holder(what))
        except HeldError as error:
            wait(str(error))
        except RunsError:
            address = str((home.read_state() or {}).get("database_url", ""))
            is_given_up = time.monotonic() > given_up_at
            if address and (is_given_up or answers(address)):
                return address
            if is_given_up:
                raise RunsError(
                    f"Something runs on {home.folder}, and {home.state_file} does not say where its database is:"
                    " start the service anew, or give the database's address (DATABASE_URL)."
                ) from None
            wait(
                f"a service starts, or stops, on {home.folder} (one that runs writes {home.state_file.name} again"
                " within a minute)"
            )
        else:
            return ""


class _Wait:
    """A moment's wait, and every ten seconds a word on what for."""

    def __init__(self, report: Callable[[str, str], None], part: str) -> None:
        self._report, self._part, self._told_at = report, part, float("-inf")

    def __call__(self, words: str) -> None:
        if time.monotonic() - self._told_at > _TOLD_EVERY_S:
            self._told_at = time.monotonic()
            self._report(self._part, f"waits: {words}")
        time.sleep(_LOOK_S)
