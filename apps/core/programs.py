"""Programs that the service starts for a piece of work, and that others end: lost like a worker, not failed.

Memory that runs out, or somebody, kills them with SIGKILL. The same piece of work is tried again, a few times.
"""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import IO, TypeVar

from apps.bench.text import Message, _
from apps.core import messages, outage, space

Given = TypeVar("Given")

MOST_ATTEMPTS = 3
# Python's, of a program that could not write what it had to say.
_UNSAID = 120
# What is told of work at which so many workers, or programs of theirs, were lost.
GIVEN_UP = _("It was given up after several attempts: the machine may have too little memory for it.")


class ProgramLostError(Exception):
    """A program was killed, and not by whoever started it."""


def require_not_lost(status: int | None) -> None:
    """Raise ProgramLostError if a program that nobody of ours has killed ended with the `status` of one that was."""
    if status == -signal.SIGKILL:
        raise ProgramLostError("A program that was at work was killed from outside.")


def reason_of(status: int, log: IO[bytes]) -> str:
    """Return why a program failed, from the log on the service's disk; NoSpaceError if that, or its own, was full."""
    log.seek(0)
    words = log.read().decode(errors="replace")[-2000:]
    is_silent = status == _UNSAID or (not words and space.free_bytes() < space.RESERVE_BYTES)
    if is_silent or any(os.strerror(number) in words for number in space.FULL):
        raise space.NoSpaceError(0)
    return words or f"the program ended with {status}"


def persist(attempt: Callable[[], Given]) -> Given:
    """Return what an attempt gives, made again if its program is lost; outage.Busy (503) after MOST_ATTEMPTS."""
    for _number in range(MOST_ATTEMPTS):
        with suppress(ProgramLostError):
            return attempt()
    raise given_up()


def given_up() -> outage.Busy:
    """Return what is raised for somebody who waits for work that is given up."""
    return outage.Busy(messages.render(Message(GIVEN_UP)))
