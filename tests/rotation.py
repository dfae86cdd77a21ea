"""Of a long walk over cases that are alike, a run takes a part: another each day, and all of them with `make soak`.

So what any of them finds is found within days by everybody's `make test`, which takes a third of the time, and before
a release by `make soak`. Cases that stand for themselves, one known defect each, are tried in every run, but for
those of the dearest files (DEAR), which take half of the time: of these a run takes every other one.
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


# Files whose tests start services, agents, browsers or labs, or go over all of REST, and take more than some five
# seconds of a processor: of those in one row a run takes one, so that what it leaves out is always about as dear.
DEAR = (
    ("tests/faults/test_campaigns.py", "tests/e2e/test_faults.py"),
    ("tests/e2e/test_stages.py", "tests/e2e/test_browser.py"),
    ("tests/e2e/test_waiting.py", "tests/e2e/test_storage.py"),
    ("tests/e2e/test_sending.py", "tests/e2e/test_defined_tool.py"),
    ("tests/launch/test_restore.py", "tests/launch/test_service.py"),
    ("tests/launch/test_hang_ups.py", "tests/launch/test_backup.py"),
    ("tests/launch/test_embedded.py", "tests/launch/test_server_signs.py"),
    ("tests/launch/test_writing.py", "tests/launch/test_owners.py"),
    ("tests/agent/test_outages.py", "tests/agent/test_put_back.py"),
    ("tests/agent/test_settings.py", "tests/agent/test_twins.py"),
    ("tests/agent/test_unit.py", "tests/agent/test_clearing.py"),
    ("tests/agent/test_disks.py", "tests/agent/test_hung_disks.py"),
    ("tests/agent/test_common_window.py", "tests/agent/test_gateway.py"),
    ("tests/lab/test_verification.py", "tests/lab/test_tuning.py"),
    ("tests/lab/test_lab.py", "tests/lab/test_many_sites.py"),
    ("tests/lab/test_transfers.py", "tests/lab/test_file_systems.py"),
    ("tests/rest/test_races.py", "tests/rest/test_owned_limits.py"),
    ("tests/rest/test_long_queries.py", "tests/rest/test_told_by_archives.py"),
    ("tests/rest/test_markup.py", "tests/rest/test_longest_lists.py"),
    ("tests/rest/test_private_words.py", "tests/rest/test_bulk.py"),
    ("tests/workers/test_hung_workers.py", "tests/workers/test_killed_workers.py"),
    ("tests/archive/exports/test_whose_word.py", "tests/archive/exports/test_brought_back.py"),
    ("tests/archive/exports/test_extremes.py", "tests/archive/exports/test_facts_of_archives.py"),
)


def rests(path: str) -> bool:
    """Say whether a file (from the project's folder on) is left out of this run of all tests."""
    return TURN is not None and any(path in row and row[TURN % len(row)] != path for row in DEAR)


def words() -> str:
    """Return what a run says of its part."""
    if TURN is None:
        return "walks: whole"
    part = f"part {TURN % PARTS} of {PARTS}"
    return f"walks and dear files: {part} ({VARIABLE}={TURN} takes it again, make soak takes all)"
