"""Changes of level in a series of repeated measurements."""

from apps.bench.statistics.changes.courses import Course, course_of, find_changes, find_trend
from apps.bench.statistics.changes.levels import ALPHA, LEAST_LEVEL, RIVALS, TREND, WAVES, Change
from apps.bench.statistics.changes.trends import SeriesTrend

__all__ = [
    "ALPHA",
    "LEAST_LEVEL",
    "RIVALS",
    "TREND",
    "WAVES",
    "Change",
    "Course",
    "SeriesTrend",
    "course_of",
    "find_changes",
    "find_trend",
]
