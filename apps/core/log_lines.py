"""How records become lines of a log: what somebody else said stays within the line that tells of it."""

import logging
import re
import textwrap
import time
from typing import Any

# ASCII's and Unicode's control signs, and the two separators that editors and `less` break lines at.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


# Between two lines of what anybody may bring about without an account (s).
_APART_S = 60.0


class OneAMinute(logging.Filter):
    """Lets one record a minute through, without a traceback; the next says how many were left out meanwhile.

    So nobody fills the log, and turns out of it what an operator looks for, by requests that are refused.
    """

    def __init__(self) -> None:
        super().__init__()
        self._next_at = 0.0
        self._left_out = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is to be logged."""
        record.exc_info = None
        if (now := time.monotonic()) < self._next_at:
            self._left_out += 1
            return False
        if self._left_out:
            record.msg, record.args = f"{record.getMessage()} ({self._left_out} more since the last such line)", ()
        self._next_at, self._left_out = now + _APART_S, 0
        return True


class LineFormatter(logging.Formatter):
    """One line for each record, its control signs escaped; a traceback follows, indented, so that it forges none."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the record's own line."""
        return _CONTROL.sub(lambda sign: ascii(sign.group())[1:-1], super().formatMessage(record))

    def formatException(self, ei: Any) -> str:
        """Return a traceback's lines."""
        return textwrap.indent(super().formatException(ei), "    ", lambda _line: True)
