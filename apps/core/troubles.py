"""What fails for the service's own reason: it is tried again later, and nothing that was sent is given up for it."""

import errno

import psycopg
from django.db import InterfaceError, OperationalError

from apps.bench.text import Message, _
from apps.core import outage, space

# Of the machine, whatever is read or written: no room, a read-only or broken disk, too many open files.
_OF_MACHINE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


# What is told of each to those whose work waits for it; the error's own words, with names of files, are the log's.
WORDS = {
    "full": _("A disk or a quota of the service is full."),
    "locked": _("Another piece of work held what this needs locked for too long."),
    "slow": _("The database took too long for this."),
    "away": _("The database did not answer, or ended the connection."),
    "broker": _("The message broker did not answer."),
    "machine": _("The service's machine could not do it: its disk, or how many files it may open."),
    "other": _("Something went wrong on the service's side."),
}
_LOCKED = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)


def cause_of(error: BaseException | None) -> str:
    """Return which of the WORDS tells why something failed."""
    cause = "other"
    while error is not None:
        if space.is_missing(error):
            return "full"
        if isinstance(error, _LOCKED):
            return "locked"
        if isinstance(error, psycopg.errors.QueryCanceled):
            return "slow"
        if outage.is_of_broker(error):
            return "broker"
        if isinstance(error, OSError) and error.errno in _OF_MACHINE:
            return "machine"
        if isinstance(error, (OperationalError, InterfaceError)) or outage.is_unavailability(error):
            # What it was raised from says more.
            cause = "away"
        error = error.__cause__
    return cause


def words_of(cause: str) -> Message:
    """Return what is told of a cause."""
    return Message(WORDS.get(cause, WORDS["other"]))


def is_ours(error: BaseException | None) -> bool:
    """Return whether something failed because the database, the broker or the machine could not do it now.

    A database that is away, full, or has something locked for too long; not one that refuses what it was given.
    """
    while error is not None:
        if isinstance(error, (OperationalError, InterfaceError)) or outage.is_unavailability(error):
            return True
        if space.is_missing(error) or (isinstance(error, OSError) and error.errno in _OF_MACHINE):
            return True
        error = error.__cause__
    return False
