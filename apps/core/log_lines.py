"""How records become lines of a log: what somebody else said stays within the line that tells of it."""

import logging
import re
import textwrap
import time
from http import HTTPStatus
from typing import Any

# ASCII's and Unicode's control signs, and the two separators that editors and `less` break lines at.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


# Signs of a record's own line: anybody may ask for an address of many thousands, and turn all else out of a log.
_LONGEST = 4000

# Whom a request is about that nobody is known to have sent.
NOBODY = "-"

# Of what anybody may bring about without an account so many lines are let through in so long (s).
_WINDOW_S = 60.0


# Of so many that records are about the last ones are counted by themselves.
_MOST_ABOUT = 1000


class PerMinute(logging.Filter):
    """Lets so many records a minute through, without a traceback; the next says how many were left out meanwhile.

    So nobody fills the log, and turns out of it what an operator looks for, by requests that are refused. What a
    record is `about` (one of its `extra`) has a minute of its own. Faults of ours are all let through.
    """

    def __init__(self, most: int = 1) -> None:
        super().__init__()
        self._most = most
        # By what they are about: when its minute ends, how many were let through in it, and how many left out.
        self._counts: dict[object, tuple[float, int, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is to be logged."""
        if getattr(record, "status_code", 0) >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return True
        record.exc_info = None
        about = getattr(record, "about", None)
        ends_at, passed, left_out = self._counts.pop(about, (0.0, 0, 0))
        if (now := time.monotonic()) >= ends_at:
            ends_at, passed = now + _WINDOW_S, 0
        if passed >= self._most:
            self._counts[about] = ends_at, passed, left_out + 1
            return False
        if left_out:
            # The message may hold percent signs, and has no more arguments.
            record.msg, record.args = f"{record.getMessage()} ({left_out} more since the last such line)", ()
        self._counts[about] = ends_at, passed + 1, 0
        while len(self._counts) > _MOST_ABOUT:
            del self._counts[next(iter(self._counts))]
        return True


class RefusedPerMinute(PerMinute):
    """Lets so many requests of nobody (`about` NOBODY) a minute through, and so many that somebody was refused."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is to be logged."""
        is_refused = getattr(record, "status_code", 0) >= HTTPStatus.BAD_REQUEST
        return super().filter(record) if is_refused or getattr(record, "about", None) == NOBODY else True


class ExpectedOutcome(Exception):
    """What ends an answer is nothing that we did: its text is what the log says of it."""


class RefusalFilter(logging.Filter):
    """Lets through what is logged of requests, but not that one was answered with 503, 504 or 507: that is told once.

    What is refused (400, 403) is what somebody asked for, and an expected outcome what they did: one line, without
    the stack of ours.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is to be logged."""
        error = record.exc_info[1] if record.exc_info else None
        status = getattr(record, "status_code", None)
        if isinstance(error, ExpectedOutcome):
            record.levelno, record.levelname, record.msg, record.args = logging.WARNING, "WARNING", str(error), ()
            record.exc_info = None
        elif status is not None and status < HTTPStatus.INTERNAL_SERVER_ERROR:
            record.exc_info = None
        return status not in (503, 504, 507)


class LineFormatter(logging.Formatter):
    """One line for each record, of bounded length, its control signs escaped; a traceback follows, indented.

    So nobody's words pass for a line of ours.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the record's own line."""
        line = super().formatMessage(record)
        if len(line) > _LONGEST:
            line = f"{line[:_LONGEST]} … ({len(line) - _LONGEST} more signs)"
        return _CONTROL.sub(lambda sign: ascii(sign.group())[1:-1], line)

    def formatException(self, ei: Any) -> str:
        """Return a traceback's lines."""
        return textwrap.indent(super().formatException(ei), "    ", lambda _line: True)
