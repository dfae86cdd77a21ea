"""What is still to be handed out to workers: tests, and groups of tests that stay together."""

from collections import deque
from collections.abc import Iterable, Sequence

import pytest

# Of a test, its place in the list of those that were collected.
Unit = list[int]


class Units:
    """Units of work in the order of their first tests; a group is one, and so is each test that is in none."""

    def __init__(self, groups: Sequence[str]) -> None:
        """Take the group of each test, empty for none."""
        units: dict[object, Unit] = {}
        for index, group in enumerate(groups):
            units.setdefault(group or index, []).append(index)
        self._units = deque(units.values())

    def __len__(self) -> int:
        return len(self._units)

    def take(self) -> Unit:
        """Return the next and forget it."""
        return self._units.popleft()

    def give_back(self, tests: Iterable[int]) -> None:
        """Have what a worker left undone be the next."""
        if unit := list(tests):
            self._units.appendleft(unit)


def group_of(item: pytest.Item) -> str:
    """Return the group that a test is in, empty for none."""
    marker = item.get_closest_marker("xdist_group")
    return str(marker.args[0]) if marker else ""
