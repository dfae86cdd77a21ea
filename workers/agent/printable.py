"""Text of others on a log or a terminal: one line, and nothing in it that a terminal obeys."""

from __future__ import annotations

import logging

# So much (characters) of one message is told.
LONGEST = 2000


def escaped(text: str) -> str:
    r"""Return a text with what is no printable sign written out (\x1b, \n), cut if it is long."""
    excerpt = text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in excerpt)


class OneLine(logging.Formatter):
    """One line for each message, whatever is in it; the lines of a traceback are set off from those of the log."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return one line, whatever line breaks and control characters the text has."""
        record.message = escaped(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: object) -> str:
        """Return a traceback, each of its lines marked as one."""
        text = super().formatException(ei)  # type: ignore[arg-type]
        return "\n".join(f"  | {escaped(line)}" for line in text.split("\n"))
