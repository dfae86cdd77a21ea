"""A session of PostgreSQL whose server process hangs, as in a wait for its disk that no signal ends."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hung(pid: int) -> Iterator[None]:
    """Have the server's process of a session do nothing within the block."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
