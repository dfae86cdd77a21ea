"""How large a change of level is said to be."""

import math
from types import SimpleNamespace

import pytest

from apps.comparison.history.charts import size_of


@pytest.mark.parametrize(
    ("unit", "before", "after", "said"),
    [
        ("bit/s", 1e9, 9e8, "-10 %"),
        # Three times as much, and two percent more: "+200 %" is neither.
        ("fraction", 0.01, 0.03, "1 % → 3 %"),
        ("%", 50.0, 60.0, "50 % → 60 %"),
        ("count", 0.0, 7.0, "0 → 7"),
    ],
)
def test_a_change_is_a_percent_only_of_what_has_one(unit: str, before: float, after: float, said: str) -> None:
    change = SimpleNamespace(before=before, after=after, ratio=after / before if before else math.inf)
    assert size_of(SimpleNamespace(metric=SimpleNamespace(unit=unit)), change) == said
