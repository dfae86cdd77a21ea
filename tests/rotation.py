"""Of a long walk over cases that are alike, a run takes a part: another each day, and all of them with `make soak`.

So what any of them finds is found within days by everybody's `make test`, and before a release by `make soak`. Cases
that stand for themselves, one known defect each, are tried in every run, but for those of dear files (DEAR): one in
three files is, and they take five sixths of the time of all. Of these, too, a run takes a part.
"""

import datetime
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
# What part a run takes: "all", or a number; without it that of the day (UTC).
VARIABLE = "FATHOM_TURN"
ALL = "all"
# Into so many parts a walk is cut, unless it says otherwise.
PARTS = 4
# Into so many the dear files are.
FILE_PARTS = 8


def _turn() -> int | None:
    """Return the number of the run's part, None for all of them."""
    text = os.environ.get(VARIABLE, "")
    if text == ALL:
        return None
    return int(text) if text else datetime.datetime.now(datetime.UTC).date().toordinal()


# One for a run, whatever the clock says meanwhile.
TURN = _turn()


def part_of(cases: Iterable[T], parts: int = PARTS) -> list[T]:
    """Return each `parts`-th of the cases, from another on in each turn; all for a soak, and at least one."""
    every = list(cases)
    if TURN is None or not every:
        return every
    return every[TURN % min(parts, len(every)) :: parts]


def number_of(examples: int, parts: int = PARTS) -> int:
    """Return how many of so many random examples a run draws: all for a soak."""
    return examples if TURN is None else max(examples // parts, 1)


# What random examples are drawn with: the same by all runs of a turn, so that a red one is red for everybody.
SEED = TURN or 0


# {file: its number}, of files whose tests together take more than some three seconds of a processor: those that start
# services, agents, browsers or labs, or go over all of REST, pages or archives. Those of one room follow one another,
# so that each run tries some of each room; later ones stand at the end by what they take, so that parts take as much.
DEAR = {path: number for number, path in enumerate(Path(__file__).with_name("dear_files.txt").read_text().split())}


def rests(path: str) -> bool:
    """Say whether a file (from the project's folder on) is left out of this run of all tests."""
    return TURN is not None and path in DEAR and DEAR[path] % FILE_PARTS != TURN % FILE_PARTS


def words() -> str:
    """Return what a run says of its part."""
    if TURN is None:
        return "walks: whole"
    walks, files = f"{TURN % PARTS} of {PARTS}", f"{TURN % FILE_PARTS} of {FILE_PARTS}"
    return f"walks: part {walks}, dear files: part {files} ({VARIABLE}={TURN} takes them again, make soak takes all)"
