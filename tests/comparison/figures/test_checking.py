"""What is no chart is refused before anything draws it, with the place and what to give there."""

import copy
from typing import Any

import pytest

from apps.comparison.figures import checks
from tests.comparison.figures import charts


@pytest.mark.parametrize("name", charts.ALL)
def test_every_kind_of_chart_is_accepted_as_it_is(name: str) -> None:
    assert checks.check_chart(charts.ALL[name]) is charts.ALL[name]


def changed(chart: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """Return a copy of the chart with the part at "series.0.label" replaced, or taken away if `value` is ...."""
    copied: Any = copy.deepcopy(chart)
    *way, last = [int(part) if part.isdecimal() else part for part in path.split(".")]
    inner = copied
    for part in way:
        inner = inner[part]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return copied


@pytest.mark.parametrize(
    ("chart", "path", "value", "place"),
    [
        (charts.LINE, "kind", "pie", "kind"),
        (charts.LINE, "metric", ..., "metric"),
        (charts.LINE, "metric.label", 3, "metric.label"),
        (charts.LINE, "metric.label", "x" * 301, "metric.label"),
        (charts.LINE, "metric.min", "0", "metric.min"),
        (charts.LINE, "x", [], "x"),
        (charts.LINE, "series", {}, "series"),
        (charts.LINE, "series", [{}] * 61, "series"),
        (charts.LINE, "series.0.points.0.x", "64K", "series[0].points[0].x"),
        (charts.LINE, "series.0.points.1.y", float("nan"), "series[0].points[1].y"),
        (charts.LINE, "series.0.points.1.y", -1e308, "series[0].points[1].y"),
        (charts.LINE, "series.0.points.1.y", 10**400, "series[0].points[1].y"),
        (charts.LINE, "series.0.points.1.low", float("inf"), "series[0].points[1].low"),
        (charts.LINE, "series.0.points.0.points", [True], "series[0].points[0].points[0]"),
        (charts.LINE, "lines.0.axis", "z", "lines[0].axis"),
        (charts.LINE, "lines.2.to", None, "lines[2].to"),
        (charts.HEAT, "cells.0.x", 2, "cells[0].x"),
        (charts.HEAT, "cells.0.y", -1, "cells[0].y"),
        (charts.HEAT, "y.labels", ["x"] * 1001, "y.labels"),
        (charts.HEAT | {"x": {"label": "x", "labels": ["x"] * 300}}, "y.labels", ["x"] * 300, "x.labels × y.labels"),
        (charts.LINE, "lines", [charts.LINE["lines"][0]] * 201, "lines"),
        (charts.WORDS, "series.0.points", [{"x": str(at), "y": 1} for at in range(1001)], "x"),
        (charts.BOX, "series", [{"label": "", "boxes": charts.BOX["series"][0]["boxes"][:1] * 999}] * 3, "series"),
        (charts.TIME, "x.max", 1e100, "x.max"),
        (charts.TIME, "x.min", -1e11, "x.min"),
        (charts.TIME, "series.0.points.1.x", 1e12, "series[0].points[1].x"),
        (charts.TIME, "lines", [{"axis": "x", "value": 1e20}], "lines[0].value"),
        (charts.TIME, "lines", [{"axis": "y", "value": 1, "from": 0, "to": 1e20}], "lines[0].to"),
        (charts.TIME, "metric.unit", "time", "metric.unit"),
        (charts.PARALLEL, "axes.0.unit", "time", "axes[0].unit"),
        (charts.BOX, "series.0.boxes.0.median", None, "series[0].boxes[0].median"),
        (charts.BOX, "series.0.boxes.0.outliers", [None], "series[0].boxes[0].outliers[0]"),
        (charts.PARALLEL, "rows.1", [1, 2], "rows[1]"),
        (charts.PARALLEL, "rows.1.1", 2, "rows[1][1]"),
        (charts.PARALLEL, "rows.1.1", 0.5, "rows[1][1]"),
        (charts.PARALLEL, "colour", 3, "colour"),
        (charts.PARALLEL, "ranges", [[0.1], None, None], "ranges[0]"),
        (charts.PARALLEL, "axes", [{}] * 31, "axes"),
        (charts.PARALLEL, "axes", [{"label": "", "unit": "", "labels": ["x"] * 40}] * 26, "axes"),
        (charts.PARALLEL, "axes", [{"label": "", "unit": "", "labels": ["x" * 300] * 21}] * 5, "axes"),
        (charts.PARALLEL, "rows", [[1, 0, 1]] * 20_001, "rows × axes"),
        (charts.HEAT, "y.labels", ["x" * 300] * 101, "x.labels, y.labels"),
        (charts.BOX, "x.labels", ["x" * 300] * 101, "x.labels"),
        (charts.WORDS, "series.0.points", [{"x": f"{at:0300}", "y": 1} for at in range(101)], "x"),
        (charts.LINE, "metric.unit", ..., "metric.unit"),
        (charts.LINE, "series.0.label", ..., "series[0].label"),
        (charts.LINE, "series.0.points.0.y", ..., "series[0].points[0].y"),
        (charts.LINE, "lines.0.style", [1], "lines[0].style"),
        (charts.LINE, "x.label", "\ud800", "x.label"),
        (charts.WORDS, "series.0.points.0.x", "\ud800", "series[0].points[0].x"),
        (charts.BOX, "series.1.label", ..., "series[1].label"),
        (charts.HEAT, "metric.unit", ..., "metric.unit"),
        (charts.HEAT, "cells.0.v", ..., "cells[0].v"),
        (charts.HEAT | {"cells": []}, "x.labels", [], "x.labels"),
        (charts.HEAT | {"cells": []}, "y.labels", [], "y.labels"),
        (charts.PARALLEL, "ranges", [[0, 1]], "ranges"),
        (charts.PARALLEL, "ranges", [None] * 4, "ranges"),
        (charts.PARALLEL | {"rows": []}, "axes", [], "axes"),
    ],
)
def test_what_is_wrong_is_named(chart: dict[str, Any], path: str, value: object, place: str) -> None:
    with pytest.raises(checks.ChartError) as error:
        checks.check_chart(changed(chart, path, value))
    assert error.value.place == place
    assert str(error.value.message)


@pytest.mark.parametrize("chart", [None, [], "line", 3])
def test_what_is_no_object_is_no_chart(chart: object) -> None:
    with pytest.raises(checks.ChartError):
        checks.check_chart(chart)


def test_too_many_values_are_refused_whatever_their_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MOST_VALUES", 4)
    monkeypatch.setattr(checks, "MOST_CROSSINGS", 4)
    for chart in (charts.LINE, charts.BOX, charts.PARALLEL):
        with pytest.raises(checks.ChartError, match="show 4 at most"):
            checks.check_chart(chart)
