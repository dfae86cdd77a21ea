"""Sweeps: factors, zips and exclusions as people write them, expanded to points and scheduled as trials."""

from apps.bench.sweep.errors import SweepError
from apps.bench.sweep.points import SweepSize, count_trials, expand_points, point_key
from apps.bench.sweep.schedule import TrialSpec, schedule_trials
from apps.bench.sweep.spec import (
    AS_GIVEN,
    MAX_CANDIDATES,
    MAX_TRIALS,
    RANDOMISED,
    Factor,
    Point,
    SweepParameter,
    SweepSpec,
    make_spec,
)
from apps.bench.sweep.values import parse_factor

__all__ = [
    "AS_GIVEN",
    "MAX_CANDIDATES",
    "MAX_TRIALS",
    "RANDOMISED",
    "Factor",
    "Point",
    "SweepError",
    "SweepParameter",
    "SweepSize",
    "SweepSpec",
    "TrialSpec",
    "count_trials",
    "expand_points",
    "make_spec",
    "parse_factor",
    "point_key",
    "schedule_trials",
]
