"""How records become lines of a log: what somebody else said stays within the line that tells of it."""

import logging
import re
import textwrap
from typing import Any

# ASCII's and Unicode's control signs, and the two separators that editors and `less` break lines at.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class LineFormatter(logging.Formatter):
    """One line for each record, its control signs escaped; a traceback follows, indented, so that it forges none."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the record's own line."""
        return _CONTROL.sub(lambda sign: ascii(sign.group())[1:-1], super().formatMessage(record))

    def formatException(self, ei: Any) -> str:
        """Return a traceback's lines."""
        return textwrap.indent(super().formatException(ei), "    ", lambda _line: True)
