"""What each folder of tests came to, in a line."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

OUTCOMES = ("failed", "error", "passed", "skipped", "xfailed", "xpassed")


def lines(stats: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Yield the lines for the reports of a run by their category, of which "" is that of setting up and tearing down.

    The seconds are of one worker each: together they are more than the run took.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    seconds: Counter[str] = Counter()
    for category in (*OUTCOMES, ""):
        for report in stats.get(category, ()):
            folder = _folder_of(report.nodeid)
            counts[folder][category] += 1
            # What could not be collected took no time of a worker.
            seconds[folder] += getattr(report, "duration", 0.0)
    width = max(map(len, counts), default=0)
    for folder in sorted(counts):
        outcomes = ", ".join(f"{counts[folder][name]} {name}" for name in OUTCOMES if counts[folder][name])
        yield f"{folder:{width}}  {seconds[folder]:6.0f} s  {outcomes}"


def _folder_of(nodeid: str) -> str:
    """Return the folder below the tests' own, or the file in that."""
    return "/".join(PurePath(nodeid.partition("::")[0]).parts[:2])
