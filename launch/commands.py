"""Commands of manage.py on the service's database, which may be starting again as they begin."""

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from launch.home import ROOT

# So long (s) is a database waited for that is away: its start, and its own repair after a crash.
PATIENCE_S = 60.0
_POLL_S = 0.5


class ManageError(RuntimeError):
    """A command of manage.py that failed; the text holds what it said."""


def run(
    arguments: Sequence[str],
    env: Mapping[str, str],
    text: str = "",
    *,
    again: Sequence[str] = (),
    is_over: Callable[[], bool] = lambda: False,
) -> str:
    """Run a command and return what it prints; `text` is its input. ManageError if it fails.

    One that meets a database that is away is run once more, with the arguments `again`, until PATIENCE_S are over
    since it met it: one that is frozen may have kept the first for longer.
    """
    deadline = math.inf
    more: tuple[str, ...] = ()
    while True:
        argv = [sys.executable, "manage.py", *arguments, *more]
        done = subprocess.run(
            argv, cwd=ROOT, env={**os.environ, **env}, input=text, capture_output=True, text=True, check=False
        )
        if not done.returncode:
            return done.stdout
        deadline = min(deadline, time.monotonic() + PATIENCE_S)
        if done.returncode != os.EX_TEMPFAIL or time.monotonic() > deadline or is_over():
            raise ManageError(f"manage.py {arguments[0]} failed:\n{done.stderr.strip()}")
        more = tuple(again)
        time.sleep(_POLL_S)
