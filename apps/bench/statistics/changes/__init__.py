"""Changes of level in a series of repeated measurements."""

from apps.bench.statistics.changes.levels import ALPHA, LEAST_LEVEL, Change, find_changes, find_trend
from apps.bench.statistics.changes.trends import Trend

__all__ = ["ALPHA", "LEAST_LEVEL", "Change", "Trend", "find_changes", "find_trend"]
