"""The supervisor's own lines: what cannot be written for a while is counted, and told of once there is room again."""

import errno
import os
import sys
import time
from pathlib import Path

# Nobody is there to read: the terminal was closed, the reader of the pipe has ended. All else may pass.
_NOBODY_LISTENS = (errno.EPIPE, errno.EIO)


class Lines:
    """Lines to the standard output; one that cannot be written stops nothing, and is not forgotten."""

    def __init__(self) -> None:
        self._lost = 0
        self._since = ""
        self._why = ""

    def write(self, part: str, text: str) -> None:
        """Write a line: the local time, the part, what happened; before it, how many lines were lost, if any were."""
        at = time.strftime("%H:%M:%S")
        lines = [_line(at, part, text)]
        if self._lost:
            # What was written of the first of them ends here.
            lines[:0] = ["\n", _line(at, "supervisor", f"{self._lost} line(s) lost since {self._since}: {self._why}")]
        try:
            _write("".join(lines))
        except OSError as error:
            self._note(error, at)
        else:
            self._lost = 0

    def _note(self, error: OSError, at: str) -> None:
        if error.errno in _NOBODY_LISTENS:
            # What runs must still be stopped in order.
            sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
            return
        self._since = self._since if self._lost else at
        self._why = error.strerror or str(error)
        self._lost += 1


def _line(at: str, part: str, text: str) -> str:
    return f"{at}  {part:<12} {text}\n"


def _write(text: str) -> None:
    """Write to the standard output without a buffer, which would go on failing with what it holds."""
    sys.stdout.flush()
    try:
        descriptor = sys.stdout.fileno()
    except (AttributeError, ValueError):
        # It is no file: io.UnsupportedOperation is a ValueError, too.
        sys.stdout.write(text)
        return
    rest = text.encode(sys.stdout.encoding or "utf-8", "backslashreplace")
    while rest:
        rest = rest[os.write(descriptor, rest) :]
