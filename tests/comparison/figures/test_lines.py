"""Where marks stand in a printed figure: within it, and none behind another."""

from itertools import pairwise
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from apps.comparison.figures.program import lines, look


def drawn(*series: list[float], top: float | None = None, **axis: Any) -> Axes:
    chart = {
        "metric": {"label": "Goodput", "unit": "bit/s"},
        "x": {"label": "Nodes", "unit": "", **axis},
        "series": [
            {
                "label": str(number),
                "points": [{"x": at if axis else f"pair {at}", "y": y} for at, y in enumerate(values)],
            }
            for number, values in enumerate(series)
        ],
        "lines": [{"axis": "y", "value": top, "label": "Ceiling"}] if top else [],
    }
    figure = Figure()
    lines.draw(figure, chart)
    [axes] = figure.axes
    return axes


@pytest.mark.parametrize("rates", [[980e6, 986e6, 985e6], [5.0], [0.0, 0.0], [1e-6, 3e-6]])
def test_the_highest_mark_stands_below_the_figures_edge(rates: list[float]) -> None:
    bottom, top = drawn(rates).get_ylim()
    assert bottom == 0
    assert top >= max(rates) * 1.05
    assert top > 0


def test_a_ceiling_stands_within_the_figure() -> None:
    assert drawn([300e6, 980e6], top=1e9).get_ylim()[1] >= 1.05e9


def test_series_over_words_stand_side_by_side_and_within_their_word() -> None:
    for count in (1, 2, 3, 12):
        places = [list(line.get_xdata()) for line in drawn(*[[980e6, 970e6]] * count).get_lines()]
        assert len({at for own in places for at in own}) == 2 * count
        assert all(abs(at - word) < 0.35 for own in places for word, at in enumerate(own))
        assert sum(own[0] for own in places) == pytest.approx(0)


def test_series_over_numbers_stay_where_they_were_measured() -> None:
    places = [list(line.get_xdata()) for line in drawn([1.0, 2.0], [1.0, 2.0], numeric=True).get_lines()]
    assert places == [[0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("span", "first", "step"),
    [
        (4, "03:00:34", 1),
        (700, "02-02 03:02", 120),
        (40_000, "02-02 06:00", 10_800),
        (4 * 86_400, "2026-02-03", 86_400),
        (400 * 86_400, "2026-04-23", 91 * 86_400),
    ],
)
def test_ticks_of_time_stand_at_whole_seconds_minutes_hours_or_days(span: int, first: str, step: int) -> None:
    low = 1_770_001_234
    ticks = look._Moments().tick_values(low, low + span)
    assert look.text_of(ticks[0], "time") == first
    assert {later - earlier for earlier, later in pairwise(ticks)} == {step}
    assert 3 <= len(ticks) <= 11
    assert low <= ticks[0] <= ticks[-1] <= low + span
