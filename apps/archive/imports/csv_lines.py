"""The lines of a CSV, so that no row is split into more cells than any table has."""

import re
from collections.abc import Iterator

# Within cells there may be separators, too. A row of more is not split: it takes eight bytes for each cell, and more
# for what is in it.
MOST_SEPARATORS = 100_000
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


class TooManySeparatorsError(Exception):
    """A row has more than MOST_SEPARATORS."""


class CountedLines:
    """The lines of a text with their ends, one at a time, and how many `separators` they had.

    Whoever reads rows out of them, of a line or of several, puts the count back to 0 after each; in place of the line
    with the first too many of a row comes TooManySeparatorsError.
    """

    def __init__(self, text: str, separator: str) -> None:
        self._text, self._separator = text, separator
        self._found = _LINE.finditer(text)
        self.separators = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._found)
        self.separators += self._text.count(self._separator, *line.span())
        if self.separators > MOST_SEPARATORS:
            raise TooManySeparatorsError
        return line.group()
