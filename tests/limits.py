"""Limits of rows as a test wants them."""

from dataclasses import replace
from typing import Any


def bound(settings: Any, most: int, *names: str) -> None:
    """Let an owner have at most so many of what these settings limit (all of them unless named); -1 refuses any."""
    limits = settings.OWNED_LIMITS
    settings.OWNED_LIMITS = limits | {name: replace(limits[name], most=most) for name in names or limits}
