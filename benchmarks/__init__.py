"""Fathom measured: each figure against the plainest alternative in the same run; python -m benchmarks."""
