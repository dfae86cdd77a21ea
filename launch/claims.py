"""Whether a server of an earlier run still lives, and the files with its process number if it does not.

PostgreSQL takes any process of its user's that has the number by now for itself, and does not start.
"""

import fcntl
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from launch import owners

# What was killed is gone after so long (s).
_PATIENCE_S = 5.0


@contextmanager
def claimed(lock: Path, left: Sequence[Path]) -> Iterator[tuple[int, ...]]:
    """Give the descriptors that a server is to inherit: all that is of it holds the lock, as long as it lives.

    If nobody holds it, the files that an earlier server `left` are removed. So is one seen that lives in another
    container, on the same files. Elsewhere than on Linux nothing is done: what is at work there cannot be told.
    """
    if sys.platform != "linux" or not left:
        yield ()
        return
    descriptor = owners.open_in(lock.parent, lock.name, os.O_RDWR | os.O_CREAT)
    try:
        if _is_free(descriptor):
            for path in left:
                with owners.acting(path.parent):
                    path.unlink(missing_ok=True)
        yield (descriptor,)
    finally:
        os.close(descriptor)


def _is_free(descriptor: int) -> bool:
    """Take the lock; False if it is held, or cannot be had on this file system."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        except OSError:
            return False
        else:
            return True
