"""Work that may take hours: a machine has one such piece in hand, so that reports and mails do not wait for it.

`worker-long` has two processes. One that is asked for bulky work while the other is at such leaves it: the other
comes back for the next piece, of whatever kind, when it has come to the end of its own.
"""

import dataclasses
import platform
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from apps.archive.imports import work as imports
from apps.archive.incoming import services as archives
from apps.campaigns import services as campaigns
from apps.core import leases, turns

# An archive of thousands of hours is stored in one transaction.
LIMIT_S = 6 * 3600
# What has turns that are shorter by far: a reader that never ends must not have the lane for hours (s).
IMPORT_LIMIT_S, DELETION_LIMIT_S = 600, 120


def take_next(*, now: datetime) -> bool:
    """Take the piece on whose turn it is, unless one is in hand on this machine; False if there is none."""
    with leases.hold(f"bulky work at {platform.node()}") as is_free:
        return is_free and turns.take_next(
            _within(IMPORT_LIMIT_S, imports.pieces(now)),
            archives.pieces(now),
            _within(DELETION_LIMIT_S, campaigns.pieces_of_deletion(now)),
            now=now,
        )


def _within(limit_s: int, pieces: turns.Pieces) -> turns.Pieces:
    """Return these pieces with a limit (s) for each, at which the process is ended as Celery would."""

    def do(pk: int) -> bool:
        with _ended_after(limit_s):
            return pieces.do(pk)

    return dataclasses.replace(pieces, do=do)


@contextmanager
def _ended_after(limit_s: int) -> Iterator[None]:
    # The kernel does it, whatever the process is at; the row is taken up again as that of any worker that died.
    before = signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(limit_s)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
