"""What becomes of factors that vary but stand neither on the axis nor for the series: no figure mixes settings."""

from collections.abc import Sequence

from apps.bench.sweep import likeness
from apps.comparison.comparisons import factors
from apps.comparison.comparisons.cells import Fixed, Spread, spread_of
from apps.comparison.comparisons.factors import VariedFactor
from apps.comparison.comparisons.figure_rows import Gathered


def told_apart(
    gathered: Gathered, hidden: Sequence[VariedFactor], fixed: Fixed
) -> tuple[list[VariedFactor], list[VariedFactor], list[tuple[str, Spread]]]:
    """Return what becomes of factors that vary, but are neither axis nor series nor fixed.

    No figure is a mean over settings that differ: what varies within a set is told apart. So are nodes, tools and
    file systems if all sets have the same ones; where each has its own, there would be nothing to compare, and they
    are averaged over. Parameters set once for each set differ between these: (label, texts of each set).
    """
    apart, pooled, once = [], [], []
    for factor in hidden:
        spread = spread_of(gathered, factor, fixed)
        varies = any(len(values) > 1 for values in spread)
        if factor.is_parameter and not varies:
            if not likeness.is_told(factor.name):
                # That settings are not known is no difference between them: see `ComparedSets.untold`.
                continue
            once.append((factor.label, spread))
        elif varies and (factor.is_parameter or (factor.name in factors.APART and _is_common(spread))):
            apart.append(factor)
        elif varies and factor.name in factors.APART:
            pooled.append(factor)
    return apart, pooled, once


def _is_common(spread: Spread) -> bool:
    """Return whether all sets that have figures have the same values."""
    return len({frozenset(values) for values in spread if values}) == 1
