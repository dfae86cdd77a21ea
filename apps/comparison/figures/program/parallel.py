"""Draw many runs over parallel axes."""

import math
from collections.abc import Callable
from typing import Any

from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from apps.comparison.figures.program import look

TICKS = 5
# An axis with so many different values at most has its ticks at them.
MOST_OWN_TICKS = 10
# Where a run has no value: below the axis' least.
FOOT = -0.06


def draw(figure: Figure, chart: dict[str, Any]) -> None:
    """Draw a chart of kind "parallel": all runs faintly, those within the ranges shaded by one axis."""
    axes, specs, rows = figure.subplots(), chart["axes"], chart["rows"]
    scales = [_scale(spec, [row[place] for row in rows]) for place, spec in enumerate(specs)]
    shares = [[scale[1](value) for scale, value in zip(scales, row, strict=True)] for row in rows]
    ranges = chart.get("ranges") or [None] * len(specs)
    places = [
        index
        for index, row in enumerate(shares)
        if all(_within(row[place], one) for place, one in enumerate(ranges) if one)
    ]
    chosen, flagged = [shares[index] for index in places], set(chart.get("hollow") or ())
    styles = ["dashed" if index in flagged else "solid" for index in places]
    colour = chart.get("colour")
    shade = len(specs) - 1 if colour is None else colour
    if len(chosen) < len(shares):
        axes.add_collection(
            LineCollection([_line(row) for row in shares], colors="#55606e", linewidths=0.5, alpha=0.12)
        )
    tints = look.SHADES([0.3 + 0.7 * (row[shade] or 0.0) for row in chosen])
    alpha = 0.35 if len(chosen) > 400 else 0.8
    axes.add_collection(
        LineCollection(
            [_line(row) for row in chosen], colors=tints, linewidths=0.8, alpha=alpha, linestyles=styles or "solid"
        )
    )
    for place, (spec, (bounds, share)) in enumerate(zip(specs, scales, strict=True)):
        axes.axvline(place, color="#10161b", linewidth=0.9)
        for value, text in _ticks(spec, bounds, [row[place] for row in rows]):
            axes.annotate(
                text,
                (place, share(value)),
                xytext=(3, 0),
                textcoords="offset points",
                fontsize=7,
                va="center",
                bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.5},
            )
        if ranges[place]:
            axes.fill_between([place - 0.03, place + 0.03], *ranges[place], color=look.COLOURS[0], alpha=0.3)
    axes.set_xticks(range(len(specs)), [spec["label"] for spec in specs], fontsize=8)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.set_xlim(-0.15, len(specs) - 0.45)
    axes.set_ylim(-0.1, 1.05)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)


def _scale(spec: dict[str, Any], values: list[Any]) -> tuple[tuple[float, float], Callable[[Any], float | None]]:
    """Return the bounds of an axis, and a function from a value to its share of the axis (None: no value)."""
    log = bool(spec.get("log"))
    if spec.get("labels"):
        low, high = 0.0, float(len(spec["labels"]) - 1)
    else:
        usable = [value for value in values if value is not None and not (log and value <= 0)]
        low, high = (min(usable), max(usable)) if usable else (0.0, 1.0)

    def share(value: Any) -> float | None:
        if value is None or (log and value <= 0):
            return None
        if high <= low:
            return 0.5
        return math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)

    return (low, high), share


def _ticks(spec: dict[str, Any], bounds: tuple[float, float], values: list[Any]) -> list[tuple[float, str]]:
    """Return where ticks stand and their texts: at the values themselves if they are few, as those of a sweep are."""
    if spec.get("labels"):
        step = max(1, -(-len(spec["labels"]) // look.MOST_TICKS))
        return [(place, text) for place, text in enumerate(spec["labels"]) if place % step == 0]
    low, high = bounds
    few = sorted({value for value in values if value is not None and low <= value <= high})
    if len(few) > MOST_OWN_TICKS:
        places = [step / (TICKS - 1) for step in range(TICKS)]
        few = [low * (high / low) ** place if spec.get("log") else low + (high - low) * place for place in places]
    return [(value, look.text_of(value, spec["unit"])) for value in few]


def _line(row: list[float | None]) -> list[tuple[float, float]]:
    return [(place, FOOT if share is None else share) for place, share in enumerate(row)]


def _within(share: float | None, chosen: list[float]) -> bool:
    return share is not None and chosen[0] - 1e-4 <= share <= chosen[1] + 1e-4
