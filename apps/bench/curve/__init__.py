"""What the figures of a curve bear out: flat, levels off, grows, falls, best somewhere, each by a test."""

from apps.bench.curve.form import Form, Reading, read_curve, read_places
from apps.bench.curve.proofs import ALPHA, ALPHA_ALIKE, Proof, ProofTest

__all__ = ["ALPHA", "ALPHA_ALIKE", "Form", "Proof", "ProofTest", "Reading", "read_curve", "read_places"]
