"""Runs of one setting of which a few had far less: what held those is not what the setting is held by."""

from collections.abc import Sequence

from apps.bench import statistics

# A run of less than this share of the median is a dip.
DIP = 0.75


def level_above(rates: Sequence[float]) -> list[float]:
    """Return the rates of most runs, where the others, the fewer, had far less; [] where none had or most did."""
    if len(rates) < 2:
        return []
    least = DIP * statistics.quantile(sorted(rates), 0.5)
    upper = [rate for rate in rates if rate >= least]
    return upper if len(rates) / 2 < len(upper) < len(rates) else []
