"""What a transfer can reach: the core law of its limits, and models of it calibrated on what was measured."""

from apps.bench.model.calibration import Model, NotPredictable, Observation, Prediction
from apps.bench.model.choice import MeasuredPoint, calibrate_any
from apps.bench.model.growth import calibrate_counts, calibrate_sizes
from apps.bench.model.law import (
    CAPACITY,
    DISK,
    FLOW,
    LOSS,
    WINDOW,
    Term,
    cubic_bps,
    gain,
    mathis_bps,
    mathis_loss,
    shallow_share,
    synchronous_bytes_per_s,
    terms,
)
from apps.bench.model.transport import calibrate_transport

__all__ = [
    "CAPACITY",
    "DISK",
    "FLOW",
    "LOSS",
    "WINDOW",
    "MeasuredPoint",
    "Model",
    "NotPredictable",
    "Observation",
    "Prediction",
    "Term",
    "calibrate_any",
    "calibrate_counts",
    "calibrate_sizes",
    "calibrate_transport",
    "cubic_bps",
    "gain",
    "mathis_bps",
    "mathis_loss",
    "shallow_share",
    "synchronous_bytes_per_s",
    "terms",
]
