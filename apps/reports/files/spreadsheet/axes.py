"""A chart's axes in readable units, and how spreadsheets are told of them."""

import math
from dataclasses import dataclass
from typing import Any

from apps.reports.columns import Scale, scale_of

Json = dict[str, Any]

# Spreadsheets count days from here: 1970-01-01 is day 25569.
_EPOCH, _DAY_S = 25_569, 86_400
_TIME = "time"


@dataclass(frozen=True)
class SheetAxis:
    """An axis in the unit that is shown; moments become spreadsheet dates."""

    label: str
    unit: str
    scale: Scale

    @property
    def title(self) -> str:
        """Return the label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    @property
    def is_time(self) -> bool:
        """Return whether its values are dates."""
        return self.unit == "UTC"

    def of(self, value: Any) -> float | None:
        """Return a value of the chart as the sheet holds it."""
        if value is None:
            return None
        return _EPOCH + value / _DAY_S if self.is_time else self.scale.of(value)


def axis_of(axis: Json, values: list[Any]) -> SheetAxis:
    """Return an axis of a chart in the unit that suits its values."""
    unit = axis.get("unit", "")
    if unit == _TIME:
        return SheetAxis(axis["label"], "UTC", Scale("", 1.0))
    scale = scale_of(values, unit)
    return SheetAxis(axis["label"], scale.unit, scale)


def options(axis: SheetAxis, axis_data: Json, values: list[Any], *, from_zero: bool = False) -> Json:
    """Return what a spreadsheet's chart is told of an axis; an axis of rates begins at zero."""
    options_of_axis: Json = {"name": axis.title, "major_gridlines": {"visible": True, "line": {"color": "#dfe4e9"}}}
    if axis.is_time:
        return {**options_of_axis, "num_format": "yyyy-mm-dd", "num_font": {"rotation": -45}}
    if axis_data.get("log"):
        # Powers of two for sizes, on which their sweeps stand.
        base = 2 if axis_data.get("unit") == "B" else 10
        options_of_axis |= {"log_base": base, "crossing": "min"}
        sizes = [size for size in map(axis.of, values) if size is not None and size > 0]
        if sizes:
            options_of_axis["min"] = float(base) ** math.floor(math.log(min(sizes), base))
            options_of_axis["max"] = float(base) ** math.ceil(math.log(max(sizes), base))
    elif from_zero:
        options_of_axis["min"] = 0
    for name in ("min", "max"):
        if axis_data.get(name) is not None:
            options_of_axis[name] = axis.of(axis_data[name])
    return options_of_axis


def ends_of(line: Json, chart: Json) -> list[tuple[float, float]]:
    """Return the two ends of a line of theory over a numeric axis, in the chart's own units; [] if it has none."""
    value = line.get("value")
    places = [point["x"] for series in chart["series"] for point in series["points"]]
    heights = [point["y"] for series in chart["series"] for point in series["points"] if point.get("y") is not None]
    if value is None or not places or not heights:
        return []
    if line["axis"] == "x":
        foot = min(heights) if chart["metric"].get("log") else min(0.0, *heights)
        return [(value, foot), (value, max(heights))]
    if line.get("from") is not None:
        return [(line["from"], value), (line["to"], value)]
    return [(min(places), value), (max(places), value)]


def distance(one: float | None, other: float | None) -> float | None:
    """Return how far an interval's end is, None where it has none."""
    return None if one is None or other is None else max(one - other, 0.0)
