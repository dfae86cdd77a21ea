"""Facts: what this node is, as far as it matters to a measurement."""

from .collector import Collector

__all__ = ["Collector"]
