"""A part of a comparison that cannot be computed is named in a remark, and takes no other along."""

from collections.abc import Callable
from typing import TypeVar

from apps.bench.comparison import Remark, RemarkLevel
from apps.bench.text import _
from apps.core import parts

CONTRAST = _("The comparison with the baseline")
IMPORTANCE = _("Which factors matter")
CHART = _("The chart")
T = TypeVar("T")


def attempt(name: str, compute: Callable[[], T], otherwise: T) -> tuple[T, list[Remark]]:
    """Return what `compute` returns, or `otherwise` and a remark that the part could not be computed."""
    part, failure = parts.attempt(name, compute, otherwise)
    return part, [Remark(RemarkLevel.CAUTION, failure)] if failure else []
