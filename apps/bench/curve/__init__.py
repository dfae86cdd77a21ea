"""What the figures of a curve bear out: flat, levels off, grows, falls, best somewhere, each by a test."""

from apps.bench.curve.form import CurveForm, CurveReading, read_curve, read_places
from apps.bench.curve.proofs import ALPHA, ALPHA_ALIKE, ProofTest, TestOutcome

__all__ = [
    "ALPHA",
    "ALPHA_ALIKE",
    "CurveForm",
    "CurveReading",
    "ProofTest",
    "TestOutcome",
    "read_curve",
    "read_places",
]
