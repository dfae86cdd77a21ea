"""A column has the unit in which people print its figures."""

import pytest

from apps.reports.columns import scale_of, size_of


@pytest.mark.parametrize(
    ("values", "unit", "shown", "first"),
    [
        ([980e6, 950e6], "bit/s", "Mbit/s", 980.0),
        ([9.4e9, 12e9], "bit/s", "Gbit/s", 9.4),
        ([13e6, 264e6], "B/s", "MB/s", 13.0),
        ([3 * 2.0**30, None], "B", "MiB", 3072.0),
        ([16 * 2.0**30], "B", "GiB", 16.0),
        ([0.0048], "s", "ms", 4.8),
        ([0.25], "fraction", "%", 25.0),
        ([7.0], "count", "", 7.0),
        ([None], "bit/s", "bit/s", None),
    ],
)
def test_a_column_has_the_unit_in_which_people_print_its_figures(
    values: list[float | None], unit: str, shown: str, first: float | None
) -> None:
    scale = scale_of(values, unit)
    assert (scale.unit, scale.of(values[0])) == (shown, first)
    if values[0] is not None:
        assert scale.of(values[0]) * size_of(scale.unit, unit) == pytest.approx(values[0])
