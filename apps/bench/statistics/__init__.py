"""What samples say: location, spread, intervals, differences, modes, scaling and changes, without any library."""

from apps.bench.statistics.boxes import Box, box_of
from apps.bench.statistics.changes import RIVALS, Change, Course, SeriesTrend, course_of, find_changes, find_trend
from apps.bench.statistics.differences import Difference, adjust_holm, compare_many, compare_two
from apps.bench.statistics.distributions import student_t_quantile
from apps.bench.statistics.evenness import Evenness, evenness_of, far_modes_of, modes_of, shares_of_largest
from apps.bench.statistics.importance import EffectShare, Importance, explain_variance
from apps.bench.statistics.intervals import (
    Interval,
    Method,
    assumes_of,
    bootstrap_interval,
    mean_interval,
    middle_of,
    percent_of,
    quantile_interval,
)
from apps.bench.statistics.means import Mean, mean_of, right_mean, why_mean
from apps.bench.statistics.modes import Modes, find_levels, find_modes, find_outliers
from apps.bench.statistics.quantiles import CONFIDENCE, quantile
from apps.bench.statistics.scaling import Scaling, fit_scaling
from apps.bench.statistics.strata import Overall, compare_strata
from apps.bench.statistics.summary import Summary, summarise
from apps.bench.statistics.trends import step_of, still_rises

__all__ = [
    "CONFIDENCE",
    "RIVALS",
    "Box",
    "Change",
    "Course",
    "Difference",
    "EffectShare",
    "Evenness",
    "Importance",
    "Interval",
    "Mean",
    "Method",
    "Modes",
    "Overall",
    "Scaling",
    "SeriesTrend",
    "Summary",
    "adjust_holm",
    "assumes_of",
    "bootstrap_interval",
    "box_of",
    "compare_many",
    "compare_strata",
    "compare_two",
    "course_of",
    "evenness_of",
    "explain_variance",
    "far_modes_of",
    "find_changes",
    "find_levels",
    "find_modes",
    "find_outliers",
    "find_trend",
    "fit_scaling",
    "mean_interval",
    "mean_of",
    "middle_of",
    "modes_of",
    "percent_of",
    "quantile",
    "quantile_interval",
    "right_mean",
    "shares_of_largest",
    "step_of",
    "still_rises",
    "student_t_quantile",
    "summarise",
    "why_mean",
]
