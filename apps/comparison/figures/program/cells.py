"""Draw a metric over two factors as shaded cells."""

from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from apps.comparison.figures.program import look

# More columns than this, or so many cells, leave no room for figures in them.
FIGURES_UP_TO, MOST_FIGURES = 16, 1_000
# Above this share of the shades ink is white.
DARK_FROM = 0.55
SHADE_TICKS = 5


def draw(figure: Figure, chart: dict[str, Any]) -> None:
    """Draw a chart of kind "heat"."""
    axes = figure.subplots()
    columns, rows, metric = chart["x"]["labels"], chart["y"]["labels"], chart["metric"]
    log = bool(metric.get("log"))
    cells = [cell for cell in chart["cells"] if cell["v"] is not None and not (log and cell["v"] <= 0)]
    norm = look.norm_of([cell["v"] for cell in cells], log=log)
    grid = [[float("nan")] * len(columns) for _ in rows]
    for cell in cells:
        grid[cell["y"]][cell["x"]] = cell["v"]
    mesh = axes.pcolormesh(range(len(columns)), range(len(rows)), grid, cmap=look.SHADES, norm=norm,
                           edgecolors="white", linewidth=1, shading="nearest")  # fmt: skip
    axes.grid(visible=False)
    axes.invert_yaxis()
    look.set_words(axes, "x", chart["x"])
    look.set_words(axes, "y", chart["y"])
    if len(columns) <= FIGURES_UP_TO and len(cells) <= MOST_FIGURES:
        for cell in cells:
            ink = "white" if float(norm(cell["v"])) > DARK_FROM else "#10161b"
            text = look.text_of(cell["v"], metric["unit"]) + (" *" if cell.get("flagged") else "")
            axes.text(cell["x"], cell["y"], text, ha="center", va="center", color=ink, fontsize=7)
    bar = figure.colorbar(mesh, ax=axes, label=metric["label"])
    if log and cells:
        low, high = float(norm.vmin or 1), float(norm.vmax or 1)
        bar.set_ticks([low * (high / low) ** (step / (SHADE_TICKS - 1)) for step in range(SHADE_TICKS)])
    bar.ax.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _place: look.text_of(float(f"{value:.3g}"), metric["unit"]))
    )
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
