"""Sets of results side by side: figures by place, contrasts with a baseline, and whether they can be compared."""

from apps.bench.comparison.centres import Centre, Statistic, centre_of
from apps.bench.comparison.comparability import OF_SURROUNDINGS, ComparedSets, Remark, RemarkLevel, judge
from apps.bench.comparison.contrasts import (
    ALPHA,
    Compare,
    Contrast,
    ContrastVerdict,
    Joint,
    compare_with_memory,
    contrast,
    joint,
)
from apps.bench.comparison.environments import Deviation, Values, deviations

__all__ = [
    "ALPHA",
    "OF_SURROUNDINGS",
    "Centre",
    "Compare",
    "ComparedSets",
    "Contrast",
    "ContrastVerdict",
    "Deviation",
    "Joint",
    "Remark",
    "RemarkLevel",
    "Statistic",
    "Values",
    "centre_of",
    "compare_with_memory",
    "contrast",
    "deviations",
    "joint",
    "judge",
]
