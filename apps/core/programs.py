"""Programs that the service starts for a piece of work, and that others end: lost like a worker, not failed.

Memory that runs out, or somebody, kills them with SIGKILL. The same piece of work is tried again, a few times.
"""

import signal
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from apps.bench.text import Message, _
from apps.core import messages, outage

Given = TypeVar("Given")

MOST_ATTEMPTS = 3
# What is told of work at which so many workers, or programs of theirs, were lost.
GIVEN_UP = _("It was given up after several attempts: the machine may have too little memory for it.")


class ProgramLostError(Exception):
    """A program was killed, and not by whoever started it."""


def require_not_lost(status: int | None) -> None:
    """Raise ProgramLostError if a program that nobody of ours has killed ended with the `status` of one that was."""
    if status == -signal.SIGKILL:
        raise ProgramLostError("A program that was at work was killed from outside.")


def persist(attempt: Callable[[], Given]) -> Given:
    """Return what an attempt gives, made again if its program is lost; outage.Busy (503) after MOST_ATTEMPTS."""
    for _number in range(MOST_ATTEMPTS):
        with suppress(ProgramLostError):
            return attempt()
    raise given_up()


def given_up() -> outage.Busy:
    """Return what is raised for somebody who waits for work that is given up."""
    return outage.Busy(messages.render(Message(GIVEN_UP)))
