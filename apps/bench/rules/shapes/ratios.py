"""Ratios between settings, measured or printed."""

import math
from typing import Any

from apps.bench import statistics
from apps.bench.rules.base import Evidence, Ratio
from apps.bench.rules.readings import read_once
from apps.bench.rules.shapes.curves import ONCE_OF_TWO, Curve, curves
from apps.bench.rules.shapes.forms import EQUAL, FALL
from apps.bench.rules.shapes.names import BLOCK, FILE_SYSTEM, KIND, canonical
from apps.bench.rules.tcp.scatter import read_scatter


def ratios(evidence: Evidence, *, factor: str, metric: str = "", tool: str = "") -> list[Ratio]:
    """Return the ratios between settings that differ in one factor: those printed, and those of the points.

    Of each pair of values there is one, of the larger number, or later word, to the other; with its 95 % interval.
    """
    printed_ratios = [ratio for ratio in evidence.ratios if _differs(ratio) == factor]
    candidates = [
        *printed_ratios,
        *(ratio for curve in curves(evidence, factor=factor) for ratio in ratios_of(curve)),
    ]
    return [ratio for ratio in candidates if metric in ("", ratio.metric) and tool in ("", ratio.tool)]


@read_once
def ratios_of(curve: Curve) -> tuple[Ratio, ...]:
    """Return the ratio of each pair of values of a curve, of the later to the earlier."""
    pair_ratios = []
    values = [value for value, cell in curve.cells.items() if min(cell.values()) > 0]
    usable = [curve.cells[value] for value in values]
    for place, to in enumerate(values):
        for of in values[place + 1 :]:
            first, second = list(curve.cells[to].values()), list(curve.cells[of].values())
            difference, ratio = statistics.compare_two(first, second), curve.mean_of(second) / curve.mean_of(first)
            low, high = difference.ratio_low or 0.0, difference.ratio_high or math.inf
            if min(len(first), len(second)) < 2:
                # Each measured once: nobody knows, and figures scatter by so much.
                low, high = ratio * (1 - ONCE_OF_TWO), ratio / (1 - ONCE_OF_TWO)
            elif (difference.confidence or 0.0) < statistics.CONFIDENCE:
                # Between two and two figures there is none of 95 %: the scatter of all settings makes up for it.
                width = math.exp(read_scatter([*cell.values()] for cell in usable).error(first, second))
                low, high = min(low, ratio / width), max(high, ratio * width)
            trials = tuple(sorted({*curve.cells[to], *curve.cells[of]}))
            sides = {**curve.fixed, curve.factor: of}, {**curve.fixed, curve.factor: to}
            sure = None
            if curve.looked > 1 and curve.scatter is not None:
                width = math.exp(curve.scatter.error(first, second, looked=curve.looked))
                sure = min(low, ratio / width), max(high, ratio * width)
            pair_ratios.append(Ratio(curve.tool, curve.metric, *sides, low, high, trials, sure))
    return tuple(pair_ratios)


def common(ratio: Ratio) -> dict[str, Any]:
    """Return what both sides of a ratio have alike."""
    return {name: value for name, value in ratio.of.items() if name in ratio.to and ratio.to[name] == value}


def is_better(ratio: Ratio) -> bool:
    """Return whether the first side is surely the larger, by more than rates that are one differ."""
    return ratio.ends[0] >= 1 and (math.isinf(ratio.high) or middle(ratio) > 1 + EQUAL)


def is_equal(ratio: Ratio) -> bool:
    """Return whether both sides are alike within 5 %, as far as the ratio tells."""
    return 1 - EQUAL <= middle(ratio) <= 1 + EQUAL and ratio.high <= 1 + 2 * FALL and ratio.low >= 1 - 2 * FALL


def decisive(ratio: Ratio) -> tuple[float, float]:
    """Return the interval that a ratio is told by: its own where both sides are alike, else that of all looked at."""
    return (ratio.low, ratio.high) if is_equal(ratio) else ratio.ends


def middle(ratio: Ratio) -> float:
    """Return the geometric middle of a ratio's interval; its lower end where the upper is not told."""
    return ratio.low if math.isinf(ratio.high) else math.sqrt(ratio.low * ratio.high)


def inverse(ratio: Ratio) -> Ratio:
    """Return the ratio of the second side to the first."""
    low = 1 / ratio.high if ratio.high else math.inf
    high = 1 / ratio.low if ratio.low else math.inf
    sure = (1 / ratio.sure[1], 1 / ratio.sure[0]) if ratio.sure and ratio.sure[0] else None
    return Ratio(ratio.tool, ratio.metric, ratio.to, ratio.of, low, high, ratio.trials, sure)


def _differs(ratio: Ratio) -> str:
    """Return the one factor in which the sides of a ratio differ, as tools share its name; "" if there are several.

    A file system and its block size are one, and so are a file system and its kind. Both sides must tell of it.
    """
    of, to = ({canonical(ratio.tool, name): value for name, value in side.items()} for side in (ratio.of, ratio.to))
    names = {name for name in of.keys() | to.keys() if name not in of or name not in to or of[name] != to[name]}
    names -= {KIND} if FILE_SYSTEM in names else set()
    names -= {FILE_SYSTEM} if BLOCK in names else set()
    factor = next(iter(names)) if len(names) == 1 else ""
    return factor if factor in of and factor in to else ""
