"""Sentences say what the statistics of a figure bear out, and nothing more."""

from collections.abc import Sequence

import pytest

from apps.reports.campaign.columns import scale_of
from apps.reports.campaign.sentences import Curve, Point, Shown, of


def curve(ys: Sequence[float], label: str = "", *, words: bool = False) -> Curve:
    """Return a line over 1, 2, 4, 8 …, or over words, each place with five figures about its centre."""
    return Curve(
        label,
        [
            Point(f"at {2**place}", None if words else float(2**place), y, [y * (1 + 0.001 * n) for n in range(5)])
            for place, y in enumerate(ys)
        ],
    )


def said(*curves: Curve, higher_is_better: bool | None = True, ceiling: float | None = None) -> str:
    return of(Shown("Goodput", "bit/s", higher_is_better, "streams", curves, ceiling))


@pytest.mark.parametrize(
    ("ys", "wanted"),
    [
        ([1e8, 2e8, 4e8, 8e8, 8e8, 8e8], "levels off at 800.0 Mbit/s: from at 8 on it is within 5 % of that."),
        ([1e8, 2e8, 4e8, 8e8], "grows from 100.0 Mbit/s at streams at 1 to 800.0 Mbit/s at at 8 (× 8)."),
        ([8e8, 7e8, 5e8, 2e8], "falls from 800.0 Mbit/s at streams at 1 to 200.0 Mbit/s at at 8 (× 4)."),
        ([1e8, 1.01e8, 1.02e8], "hardly depends on streams: it lies between 100.0 Mbit/s and 102.0 Mbit/s."),
        ([2e8, 8e8, 1e8, 6e8], "is highest, 800.0 Mbit/s, at streams at 2 and lowest, 100.0 Mbit/s, at at 4 (× 8)."),
        ([5e8], "Goodput: 500.0 Mbit/s."),
        ([0.0, 0.0], "hardly depends on streams"),
    ],
)
def test_the_shape_of_a_line_is_told(ys: list[float], wanted: str) -> None:
    assert wanted in said(curve(ys))


def test_of_words_the_extremes_are_told_and_whether_they_differ() -> None:
    clear = said(curve([1e8, 3e8, 2e8], words=True))
    assert clear.startswith("Goodput is highest at at 2 (300.0 Mbit/s) and lowest at at 1 (100.0 Mbit/s), × 3.")
    assert clear.endswith("The difference is significant.")
    few = Curve("", [Point("a", None, 1e8, [1e8]), Point("b", None, 2e8, [2e8])])
    assert said(few).endswith("There are too few figures to tell whether that is chance.")
    mixed = [1e8, 3e8, 1.1e8, 2.9e8, 1.2e8, 2.8e8]
    chance = Curve("", [Point("a", None, 1e8, mixed), Point("b", None, 2e8, mixed[::-1])])
    assert said(chance).endswith("The difference may be chance.")


def test_of_several_lines_the_best_is_told_in_the_metrics_own_direction() -> None:
    lines = [curve([1e8, 4e8], "one"), curve([2e8, 3e8], "two")]
    assert "The best of all is 400.0 Mbit/s with one at at 2." in said(*lines)
    assert "The best of all is 100.0 Mbit/s with one at at 1." in said(*lines, higher_is_better=False)
    many = said(*(curve([1e8 * n, 6e8], f"line {n}") for n in range(1, 6)))
    assert many == "The best of all is 600.0 Mbit/s with line 1 at at 2."


def test_the_ceiling_is_told_as_a_share_and_nothing_of_no_figures() -> None:
    assert said(curve([4.95e8]), ceiling=9.9e8).endswith("50 % of the path's ceiling of 990.0 Mbit/s.")
    assert said(curve([])) == said() == ""


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
