"""A ceiling that no figure comes near stands within the drawing all the same."""

from apps.comparison.figures.program import lines, look
from tests.comparison.figures import charts


def test_the_axis_reaches_up_to_the_ceiling_and_down_to_zero() -> None:
    chart = charts.LINE | {"lines": [{"axis": "y", "value": 5e9, "label": "Ceiling"}]}
    figure = look.figure_for(chart)
    lines.draw(figure, chart)
    low, high = figure.axes[0].get_ylim()
    assert low == 0
    assert high > 5e9
