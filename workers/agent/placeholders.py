"""What of a job is known on its node only: the paths of its work folder and of programs, put in for placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

PROGRAM = re.compile(r"\{program:([A-Za-z0-9._+-]{1,100})\}")


class Placeholders:
    """Puts in the work folder for `{work}` and, for `{program:NAME}`, what `find` returns for NAME, or raises."""

    def __init__(self, work: Path, find: Callable[[str], str]) -> None:
        self._work = str(work)
        self._find = find

    def fill(self, text: str) -> str:
        """Return a word of a command line, or the text of a file, as the node's programs need it."""
        return PROGRAM.sub(lambda match: self._find(match.group(1)), text).replace("{work}", self._work)
