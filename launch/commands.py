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
    since it met it: one that is frozen may have kept the first for longer. One that is under way ends when `is_over`.
    """
    deadline = math.inf
    more: tuple[str, ...] = ()
    while True:
        status, answer, complaint = _carry_out([*arguments, *more], env, text, is_over)
        if not status:
            return answer
        deadline = min(deadline, time.monotonic() + PATIENCE_S)
        if status != os.EX_TEMPFAIL or time.monotonic() > deadline or is_over():
            raise ManageError(f"manage.py {arguments[0]} failed:\n{complaint.strip()}")
        more = tuple(again)
        time.sleep(_POLL_S)


def _carry_out(
    arguments: Sequence[str], env: Mapping[str, str], text: str, is_over: Callable[[], bool]
) -> tuple[int, str, str]:
    argv, pipe = [sys.executable, "manage.py", *arguments], subprocess.PIPE
    with subprocess.Popen(
        argv, cwd=ROOT, env={**os.environ, **env}, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as command:
        unsent: str | None = text
        while True:
            try:
                answer, complaint = command.communicate(unsent, timeout=_POLL_S)
            except subprocess.TimeoutExpired:
                unsent = None
                if is_over():
                    command.kill()
            except BaseException:
                command.kill()
                raise
            else:
                return command.returncode, answer, complaint
