"""What fails for the service's own reason: it is tried again later, and nothing that was sent is given up for it."""

import errno

from django.db import InterfaceError, OperationalError

from apps.core import outage, space

# Of the machine, whatever is read or written: no room, a read-only or broken disk, too many open files.
_OF_MACHINE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


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
