"""Rates that a sender's own limit held: what an option caps tells nothing of the path or the disk beyond the cap."""

from collections.abc import Iterable

from apps.bench import units
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag
from apps.bench.toolkit.doubts import HELD_BY_LIMIT

# From this share of a limit on, the limit may have set the pace: programs sleep a little too long.
NEAR = 0.8


def held_flags(rate: float | None, limit: float | None, unit: str, metrics: Iterable[str] = ()) -> list[Flag]:
    """Say when a rate is about as high as the limit that its sender was given (both in `unit`); 0 or None is none."""
    if not limit or not rate or rate < NEAR * limit:
        return []
    text = _(
        "The sender was limited to %(limit)s and reached %(rate)s: the limit set the pace, so that the figure is a"
        " lower bound of what is possible."
    )
    values = {"limit": units.format_quantity(limit, unit), "rate": units.format_quantity(rate, unit)}
    return [Flag(HELD_BY_LIMIT, "warning", Message(text, values), tuple(metrics))]


def paused_flags(option: str, metrics: Iterable[str] = ()) -> list[Flag]:
    """Say that an option made the sender pause: it set the pace itself, at a rate that the option does not tell."""
    text = _("The sender was told to pause (%(option)s): the figure is a lower bound of what is possible.")
    return [Flag(HELD_BY_LIMIT, "warning", Message(text, {"option": option}), tuple(metrics))]


def least(*limits: float | None) -> float | None:
    """Return the lowest of the limits that there are; 0 or None is none."""
    return min((limit for limit in limits if limit), default=None)
