"""Of a long walk over cases that are alike, a run takes a part: another each day, and all of them with `make soak`.

So what any of them finds is found within days by everybody's `make test`, which takes a third of the time, and before
a release by `make soak`. Cases that stand for themselves, one known defect each, are tried in every run.
"""

import datetime
import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")
# What part a run takes: "all", or a number; without it that of the day (UTC).
VARIABLE = "FATHOM_TURN"
ALL = "all"
# Into so many parts a walk is cut, unless it says otherwise.
PARTS = 4


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


def words() -> str:
    """Return what a run says of its part."""
    if TURN is None:
        return "walks: whole"
    return f"walks: part {TURN % PARTS} of {PARTS} ({VARIABLE}={TURN} takes it again, make soak takes all)"
