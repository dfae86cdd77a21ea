"""Draw series with their intervals."""

from typing import Any

from matplotlib.figure import Figure

from apps.comparison.figures.program import look

# More points than this draw no marks, only the line.
MARKED_POINTS = 60
# Over words, series stand side by side, so far apart and no wider together: one mark would hide the other.
APART, ALL_APART = 0.08, 0.6
# What stays free above the highest mark, as a share of its height.
HEADROOM = 0.06


def draw(figure: Figure, chart: dict[str, Any]) -> None:
    """Draw a chart of kind "line"."""
    axes = figure.subplots()
    is_numeric = bool(chart["x"].get("numeric"))
    words = list(dict.fromkeys(str(point["x"]) for series in chart["series"] for point in series["points"]))
    # Words have no scale.
    log_x, log_y = is_numeric and bool(chart["x"].get("log")), bool(chart["metric"].get("log"))
    count = len(chart["series"])
    apart = min(APART, ALL_APART / count) if count else 0.0
    positions: set[float] = set()
    for index, series in enumerate(chart["series"]):
        aside = (index - (count - 1) / 2) * apart
        points = [
            {**point, "at": point["x"] if is_numeric else words.index(str(point["x"])) + aside}
            for point in series["points"]
            if point["y"] is not None and not (log_y and point["y"] <= 0) and not (log_x and point["x"] <= 0)
        ]
        positions |= {point["at"] for point in points}
        _draw_series(axes, chart, series["label"], points, index=index, joined=is_numeric)
    axes.margins(y=0.1)
    look.draw_lines(axes, chart.get("lines", []), is_numeric=is_numeric)
    # After the lines, for a set end is no longer moved by what is drawn: a ceiling stands within the figure.
    if not log_y and all(point["y"] is None or point["y"] >= 0 for s in chart["series"] for point in s["points"]):
        axes.set_ylim(bottom=0, top=max(axes.get_ylim()[1], axes.dataLim.y1 * (1 + HEADROOM)))
    look.set_axis(axes, "y", chart["metric"])
    if is_numeric:
        look.set_axis(axes, "x", chart["x"], ticks=sorted(positions))
    else:
        look.set_words(axes, "x", {"label": chart["x"]["label"], "labels": words})
        axes.set_xlim(-0.5, max(len(words), 1) - 0.5)
    if chart["x"].get("unit") == "time":
        axes.tick_params(axis="x", rotation=30)
    look.add_legend(axes, count)


def _draw_series(axes: Any, chart: dict[str, Any], label: str, points: list[dict[str, Any]], *, index: int,
                 joined: bool) -> None:  # fmt: skip
    colour = look.COLOURS[index % len(look.COLOURS)]
    has_marks = len(points) <= MARKED_POINTS or not joined
    axes.plot(
        [point["at"] for point in points],
        [point["y"] for point in points],
        color=colour,
        linewidth=1.4,
        linestyle=look.DASHES[index // len(look.COLOURS) % len(look.DASHES)] if joined else "none",
        marker=look.MARKS[index % len(look.MARKS)] if has_marks else None,
        markersize=4.5,
        label=label or chart["metric"]["label"],
    )
    if has_marks and (flagged := [point for point in points if point.get("flagged")]):
        _draw_hollow(axes, flagged, colour, look.MARKS[index % len(look.MARKS)])
    bars = [point for point in points if point.get("low") is not None and point.get("high") is not None]
    if bars:
        axes.errorbar(
            [point["at"] for point in bars],
            [point["y"] for point in bars],
            yerr=[
                [max(0.0, point["y"] - point["low"]) for point in bars],
                [max(0.0, point["high"] - point["y"]) for point in bars],
            ],
            fmt="none",
            ecolor=colour,
            elinewidth=1,
            capsize=3,
        )
    if chart.get("individual"):
        singles = [(point["at"], value) for point in points for value in point.get("points", [])]
        axes.plot(*zip(*singles, strict=True), ".", color=colour, alpha=0.4, markersize=4) if singles else None


def _draw_hollow(axes: Any, points: list[dict[str, Any]], colour: str, mark: str) -> None:
    """Draw the marks of points whose figures are flagged hollow, over the full ones."""
    axes.plot(
        [point["at"] for point in points],
        [point["y"] for point in points],
        linestyle="none",
        marker=mark,
        markersize=4.5,
        markerfacecolor="white",
        markeredgecolor=colour,
        zorder=3,
    )
