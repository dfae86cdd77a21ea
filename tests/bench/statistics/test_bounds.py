"""Intervals end where their quantity does."""

import pytest

from apps.bench.statistics import bounds


@pytest.mark.parametrize(
    ("low", "high", "unit", "values", "ceiling", "ends"),
    [
        (-5.0, 20.0, "s", [1.0, 14.0], None, (0.0, 20.0)),
        (-5.0, 20.0, "s", [-1.0, 14.0], None, (-5.0, 20.0)),
        (0.8, 1.1, "fraction", [0.9, 1.0], None, (0.8, 1.0)),
        (8e8, 1.1e9, "bit/s", [9e8, 9.3e8], 9.5e8, (8e8, 9.5e8)),
        (8e8, 1.1e9, "bit/s", [9e8, 9.8e8], 9.5e8, (8e8, 9.8e8)),
        (8e8, 9e8, "bit/s", [8e8, 9e8], None, (8e8, 9e8)),
    ],
)
def test_intervals_end_where_no_figure_can_lie(low, high, unit, values, ceiling, ends):
    bounds_pair = bounds.clipped(low, high, unit, values, ceiling)
    assert (bounds_pair.low, bounds_pair.high) == ends
    assert bounds_pair.is_cut == (ends != (low, high))


def test_without_an_interval_nothing_is_cut():
    assert bounds.clipped(None, None, "s", [1.0]) == bounds.Clipped(None, None, is_cut=False)
