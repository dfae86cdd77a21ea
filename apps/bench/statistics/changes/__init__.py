"""Changes of level in a series of repeated measurements."""

from apps.bench.statistics.changes.levels import ALPHA, LEAST_LEVEL, Change, find_changes

__all__ = ["ALPHA", "LEAST_LEVEL", "Change", "find_changes"]
