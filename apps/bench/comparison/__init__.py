"""Sets of results side by side: figures by place, contrasts with a baseline, and whether they can be compared."""

from apps.bench.comparison.centres import Centre, Statistic, centre_of
from apps.bench.comparison.comparability import Level, Remark, Shown, judge
from apps.bench.comparison.contrasts import ALPHA, Contrast, Verdict, contrast
from apps.bench.comparison.environments import Deviation, Values, deviations

__all__ = [
    "ALPHA",
    "Centre",
    "Contrast",
    "Deviation",
    "Level",
    "Remark",
    "Shown",
    "Statistic",
    "Values",
    "Verdict",
    "centre_of",
    "contrast",
    "deviations",
    "judge",
]
