"""Draw distributions as boxes."""

from typing import Any

from matplotlib.figure import Figure

from apps.comparison.figures.program import look


def draw(figure: Figure, chart: dict[str, Any]) -> None:
    """Draw a chart of kind "box", the boxes of several series side by side."""
    axes = figure.subplots()
    count = max(len(chart["series"]), 1)
    width = 0.8 / count
    for index, series in enumerate(chart["series"]):
        colour = look.COLOURS[index % len(look.COLOURS)]
        offset = (index - (count - 1) / 2) * width
        places = [box["x"] + offset for box in series["boxes"]]
        axes.bxp(
            [_statistics(box) for box in series["boxes"]],
            positions=places,
            widths=width * 0.85,
            patch_artist=True,
            showmeans=any(box.get("mean") is not None for box in series["boxes"]),
            manage_ticks=False,
            boxprops={"facecolor": f"{colour}4d", "edgecolor": colour},
            medianprops={"color": colour, "linewidth": 1.8},
            whiskerprops={"color": colour},
            capprops={"color": colour},
            flierprops={"marker": look.MARKS[index % len(look.MARKS)], "markersize": 3.5,
                        "markerfacecolor": colour, "markeredgecolor": colour},
            meanprops={"marker": "D", "markersize": 4, "markerfacecolor": "white", "markeredgecolor": colour},
        )  # fmt: skip
        axes.fill_between([], [], color=colour, alpha=0.5, label=series["label"] or chart["metric"]["label"])
        if chart.get("individual"):
            for place, box in zip(places, series["boxes"], strict=True):
                values = box.get("points", [])
                axes.plot([place] * len(values), values, ".", color=colour, alpha=0.4, markersize=3)
    look.draw_lines(axes, chart.get("lines", []), is_numeric=False)
    look.set_axis(axes, "y", chart["metric"])
    look.set_words(axes, "x", chart["x"])
    axes.set_xlim(-0.6, len(chart["x"]["labels"]) - 0.4)
    look.add_legend(axes, len(chart["series"]))


def _statistics(box: dict[str, Any]) -> dict[str, Any]:
    return {
        "med": box["median"],
        "q1": box["q1"],
        "q3": box["q3"],
        "whislo": box["whisker_low"],
        "whishi": box["whisker_high"],
        "fliers": box.get("outliers", []),
        "mean": box.get("mean"),
    }
