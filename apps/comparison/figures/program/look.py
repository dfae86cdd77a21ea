"""How figures look: fonts with Korean, the colours of the light theme, and axes in units people read."""

import functools
import importlib.util
import math
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, Locator, NullFormatter

from apps.bench import units

DPI = 160
COLOURS = ("#0b6e99", "#c2571a", "#3a7d34", "#8e4aa8", "#b3261e", "#55606e")
MARKS = ("o", "s", "^", "D", "X", "*")
DASHES = ("-", "--", ":")
LINE_COLOURS = {"theory": "#7a5c00", "change": "#b3261e", "dismissed": "#55606e"}
SHADES = LinearSegmentedColormap.from_list("fathom", ["#e9f3f8", "#6aadcc", "#09425c"])
# More labels than this along an axis are thinned.
MOST_TICKS = 24
# An axis of time has a tick every so many seconds, of which it has so many at most.
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
MOMENTS_S = (
    *(1, 2, 5, 10, 30),
    *(minutes * MINUTE_S for minutes in (1, 2, 5, 10, 30)),
    *(hours * HOUR_S for hours in (1, 3, 6)),
    *(days * DAY_S for days in (1, 2, 7, 14, 28, 91, 182, 364, 728, 3640)),
)
MOST_MOMENTS = 10
# An axis of sizes has so many ticks at most, a power of two apart.
MOST_SIZES = 8
_PADDING = re.compile(r"(\.\d*?)0+(?=\D|$)")


class _Moments(Locator):
    """Ticks at whole seconds, minutes, hours or days in UTC, as few as can be read."""

    def __call__(self) -> list[float]:
        """Return the ticks within the view."""
        return self.tick_values(*self.axis.get_view_interval()) if self.axis else []

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        """Return the ticks between two moments."""
        longest = MOMENTS_S[-1]
        steps = (*MOMENTS_S, longest * max(math.ceil((vmax - vmin) / longest / MOST_MOMENTS), 1))
        step = next(step for step in steps if (vmax - vmin) / step <= MOST_MOMENTS or step == steps[-1])
        first = -(-vmin // step)
        count = int((vmax // step) - first) + 1
        return [(first + place) * step for place in range(max(count, 0))]


class _Sizes(Locator):
    """Ticks at multiples of a power of two, as sizes in bytes are."""

    def __call__(self) -> list[float]:
        """Return the ticks within the view."""
        return self.tick_values(*self.axis.get_view_interval()) if self.axis else []

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        """Return the ticks between two sizes (B)."""
        step = 2 ** max(math.ceil(math.log2(max(vmax - vmin, 1) / MOST_SIZES)), 0)
        return [place * step for place in range(math.ceil(vmin / step), math.floor(vmax / step) + 1)]


def figure_for(chart: dict[str, Any]) -> Figure:
    """Return an empty figure of a size that suits the chart."""
    _prepare()
    width, height = 8.0, 4.5
    if chart.get("kind") == "heat":
        height = min(max(3.0, 1.6 + 0.34 * len(chart["y"]["labels"])), 14.0)
        width = min(max(6.0, 3.0 + 0.75 * len(chart["x"]["labels"])), 18.0)
    elif chart.get("kind") == "parallel":
        width = min(max(8.0, 1.5 * len(chart["axes"])), 20.0)
    return Figure(figsize=(width, height), layout="constrained")


@functools.cache
def _prepare() -> None:
    spec = importlib.util.find_spec("koreanize_matplotlib")
    families = ["DejaVu Sans"]
    if spec and spec.submodule_search_locations:
        fonts = Path(spec.submodule_search_locations[0]) / "fonts"
        for name in ("NanumGothic.ttf", "NanumGothicBold.ttf"):
            font_manager.fontManager.addfont(fonts / name)
        families.append("NanumGothic")
    matplotlib.rcParams.update(
        {
            "font.family": families,
            "font.size": 9,
            # A dollar in a name is a dollar.
            "text.parse_math": False,
            "axes.unicode_minus": False,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": "#dfe4e9",
            "legend.frameon": False,
            # Text as paths: the file looks alike wherever it is opened.
            "svg.fonttype": "path",
            "svg.hashsalt": "fathom",
        }
    )


def text_of(value: float, unit: str) -> str:
    """Return the text at a tick, without padding zeros; the unit "time" is seconds since the epoch, shown in UTC."""
    if unit == "time":
        form = "%Y-%m-%d" if not value % DAY_S else "%H:%M:%S" if value % MINUTE_S else "%m-%d %H:%M"
        return datetime.fromtimestamp(value, UTC).strftime(form)
    text = units.format_quantity(float(f"{value:.6g}"), unit)
    return re.sub(r"\.(?=\D|$)", "", _PADDING.sub(r"\1", text))


def set_axis(axes: Axes, which: str, axis: dict[str, Any], *, ticks: list[float] | None = None) -> None:
    """Give the x or y axis its label, scale, bounds and ticks; on a log axis at `ticks`, if given."""
    target = getattr(axes, f"{which}axis")
    unit = axis["unit"]
    getattr(axes, f"set_{which}label")(f"{axis['label']} (UTC)" if unit == "time" else axis["label"])
    if axis.get("log"):
        getattr(axes, f"set_{which}scale")("log")
        target.set_minor_formatter(NullFormatter())
        if ticks:
            step = -(-len(ticks) // MOST_TICKS)
            target.set_major_locator(FixedLocator(ticks[::step]))
            target.set_minor_locator(FixedLocator([]))
    elif unit == "B":
        target.set_major_locator(_Sizes())
    if unit == "time":
        target.set_major_locator(_Moments())
    target.set_major_formatter(FuncFormatter(lambda value, _place: text_of(value, unit)))
    bounds = {name: axis[key] for name, key in (("left", "min"), ("right", "max")) if axis.get(key) is not None}
    if which == "y":
        bounds = {{"left": "bottom", "right": "top"}[name]: value for name, value in bounds.items()}
    if bounds:
        getattr(axes, f"set_{which}lim")(**bounds)


def set_words(axes: Axes, which: str, axis: dict[str, Any]) -> None:
    """Give an axis its words, one at each whole number."""
    labels = axis["labels"]
    step = max(1, -(-len(labels) // MOST_TICKS))
    places = list(range(0, len(labels), step))
    turned = which == "x" and sum(len(labels[place]) for place in places) > 80
    getattr(axes, f"set_{which}ticks")(
        places, [labels[place] for place in places], **({"rotation": 40, "ha": "right"} if turned else {})
    )
    getattr(axes, f"set_{which}label")(axis["label"])


def draw_lines(axes: Axes, lines: list[dict[str, Any]], *, is_numeric: bool) -> None:
    """Draw the lines of theory and of change."""
    for line in lines:
        if line.get("value") is None or (line["axis"] == "x" and not is_numeric):
            continue
        colour = LINE_COLOURS.get(line.get("style", "theory"), LINE_COLOURS["theory"])
        style: dict[str, Any] = {"color": colour, "linestyle": (0, (5, 3)), "linewidth": 1.2}
        bounded = line.get("from") is not None
        if line["axis"] == "y":
            if bounded:
                axes.hlines(line["value"], line["from"], line["to"], **style)
            else:
                axes.axhline(line["value"], **style)
            place: dict[str, Any] = {
                "xy": (0, line["value"]),
                "xycoords": ("axes fraction", "data"),
                "xytext": (4, 3),
            }
            if bounded:
                place = {"xy": (line["from"], line["value"]), "xycoords": "data", "xytext": (4, 3)}
        else:
            axes.axvline(line["value"], **style)
            place = {"xy": (line["value"], 1), "xycoords": ("data", "axes fraction"), "xytext": (4, -10)}
        axes.annotate(line.get("label", ""), textcoords="offset points", color=colour, fontsize=8, **place)


def norm_of(values: list[float], *, log: bool) -> Normalize:
    """Return the scale of the shades."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    return LogNorm(low, high) if log and low > 0 and high > low else Normalize(low, high)


def add_legend(axes: Axes, count: int) -> None:
    """Put a legend under the axes if there is more than one series."""
    if count > 1:
        axes.figure.legend(loc="outside lower center", ncols=min(count, 4), fontsize=8)
