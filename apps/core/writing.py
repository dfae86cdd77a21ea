"""Whether PostgreSQL can write: where one process meets a full disk, it is noted at the broker for all.

What only reads works meanwhile, so that nobody would know why nothing goes on. Whoever looks tries anew, and it is
over once there is room and nothing was refused for some seconds.
"""

import logging
import threading
import time
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import redis
from django.db import OperationalError
from django.db.utils import DatabaseErrorWrapper
from django.utils import timezone
from psycopg import Error, errors

from apps.core import backends, clock, signs

logger = logging.getLogger(__name__)

# Each process notes refusals, and looks, at most so often (s).
_NOTE_EVERY_S = 1.0
LOOK_EVERY_S = 2.0


class _LastState:
    """What this process found last."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.noted_at = float("-inf")
        # Of looks that only ask others, and of those that try.
        self.looked_at = {False: float("-inf"), True: float("-inf")}
        self.since: datetime | None = None


_known = _LastState()


class _Attending(DatabaseErrorWrapper):
    """Django's way to its own kinds of errors, which every statement and every COMMIT takes."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            note(error)
        super().__exit__(kind, error, traceback)


def attend(connection: Any, **_options: object) -> None:
    """Have a connection that was just made tell of a full disk."""
    connection.wrap_database_errors = _Attending(connection)


def note(error: BaseException | None) -> None:
    """Note for all processes that the database's disk is full, if an error, or what it was raised from, says so."""
    while error is not None and not isinstance(error, errors.DiskFull):
        error = error.__cause__
    if error is None or time.monotonic() - _known.noted_at < _NOTE_EVERY_S:
        return
    _known.noted_at = time.monotonic()
    _note(str(error).partition("\n")[0], was_refused=True)


def full_since(*, looks: bool = False) -> datetime | None:
    """Return since when the database's disk is full, None while it is not known to be.

    With `looks` it is tried whether or not anybody met it. At most each LOOK_EVERY_S; a few seconds at worst.
    """
    with _known.lock:
        if time.monotonic() - _known.looked_at[looks] < LOOK_EVERY_S:
            return _known.since
        _known.looked_at[looks] = time.monotonic()
    noted, was_refused = _noted()
    if noted is None and _known.since is None and not looks:
        return None
    has_room = _has_room()
    if has_room is None:
        _known.since = noted or _known.since
    elif has_room and not was_refused:
        _end()
    else:
        _known.since = noted or _known.since or timezone.now()
        _note("a look found no room", was_refused=False)
    return _known.since


def _noted() -> tuple[datetime | None, bool]:
    """Return since when others say that it is full, and whether it just refused to write."""
    try:
        since, was_refused = signs.full_since()
    except redis.RedisError:
        return None, False
    if since is None:
        return None, was_refused
    # By a clock that was ahead.
    return clock.past(datetime.fromtimestamp(since, UTC)) or timezone.now(), was_refused


def _has_room() -> bool | None:
    """Return whether there is room, None if the server does not answer, which is for others to tell."""
    try:
        return backends.has_room()
    except (OperationalError, Error):
        return None


def _note(words: str, *, was_refused: bool) -> None:
    try:
        is_new = signs.note_full(was_refused=was_refused)
    except redis.RedisError:
        return
    if is_new:
        logger.warning("The database's disk is full: %s", words)


def _end() -> None:
    _known.since = None
    try:
        was_full = signs.note_room()
    except redis.RedisError:
        return
    if was_full:
        logger.warning("The database's disk has room again")
