"""What is kept and shown was measured first."""

from tests.results.conftest import measured, pair

__all__ = ["measured", "pair"]
