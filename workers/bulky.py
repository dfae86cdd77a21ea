"""Work that takes long: imports, deletions and readings in turns of a minute, and archives, which may take hours.

`worker-long` has two processes. A machine has one archive in hand at most, and one of all else: while the one
process stores an archive, the other goes on, and nobody's report or import waits for longer than a turn. Whoever is
asked for a piece of a kind of which one is in hand leaves it: the process that has that comes back for the next.
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
from workers import carry_out, readings

# An archive of thousands of hours is stored in one transaction.
LIMIT_S = 6 * 3600
# What has turns that are shorter by far: a reader that never ends must not have the lane for hours (s).
IMPORT_LIMIT_S, DELETION_LIMIT_S = 600, 120
SHORT, ARCHIVES = f"bulky work at {platform.node()}", f"archive work at {platform.node()}"


def take_next(*, now: datetime) -> bool:
    """Take the piece on whose turn it is, of a lane that is free on this machine; False if there is none."""
    short = (
        _within(IMPORT_LIMIT_S, imports.pieces(now)),
        _within(DELETION_LIMIT_S, campaigns.pieces_of_deletion(now)),
        _within(readings.LIMIT_S, readings.pieces(now, lambda pk: carry_out.advance_in_turn(pk, now=now))),
    )
    lanes = {SHORT: short, ARCHIVES: (archives.pieces(now),)}
    # Pieces of a lane that is taken are not looked at: many of them would hide those of the other.
    free = [_alone(lane, piece) for lane, pieces in lanes.items() if not leases.is_held(lane) for piece in pieces]
    return turns.take_next(*free, now=now)


def _alone(lane: str, pieces: turns.Pieces) -> turns.Pieces:
    """Return these pieces, each left where another process of this machine is at one of the same lane."""

    def do(pk: int) -> bool:
        with leases.hold(lane) as is_free:
            return is_free and pieces.do(pk)

    return dataclasses.replace(pieces, do=do)


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
