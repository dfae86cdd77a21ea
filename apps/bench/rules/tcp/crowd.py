"""What other flows on a full link would leave: each flow its share, so that more streams have more."""

import math
from collections.abc import Mapping

from apps.bench.rules.base import Alternative, Proposal
from apps.bench.rules.tcp.present import Present
from apps.bench.rules.tcp.unlike import queue_of
from apps.bench.text import Message, _

# Rates fit the shares within this (of their logarithms); streams multiply in proportion with so much of it or more.
FITS, PROPORTION = 0.10, 0.85


def others_of(rates: Mapping[int, float]) -> float | None:
    """Return how many flows of others would leave these rates (bit/s by the number of streams); None if none would.

    Each flow has its share of C: X(n) = C n / (n + k), so n / X = (n + k) / C is a line; by least squares.
    """
    if len(rates) < 2:
        return None
    ratios = {count: count / rate for count, rate in rates.items()}
    middle, level = math.fsum(ratios) / len(ratios), math.fsum(ratios.values()) / len(ratios)
    squares = math.fsum((count - middle) ** 2 for count in ratios)
    slope = math.fsum((count - middle) * (value - level) for count, value in ratios.items()) / squares
    rest = level - slope * middle
    if slope <= 0 or rest <= 0:
        return None
    fits = all(abs(math.log(value / (slope * count + rest))) <= FITS for count, value in ratios.items())
    return rest / slope if fits else None


def are_in_proportion(rates: Mapping[int, float], full: float | None) -> bool:
    """Return whether streams multiply the rate of the fewest in proportion, where the path (bit/s) is not full."""
    least = min(rates, default=1)
    return all(
        rate >= PROPORTION * rates[least] * count / least or (full is not None and rate >= PROPORTION * full)
        for count, rate in rates.items()
    )


def weight(others: float | None, slow: Present, *, is_even: bool) -> float:
    """Return how likely others' flows are: by the course over streams, and by a queue that stands."""
    if others is None or is_even:
        # Of very many others a few more streams have as much each.
        return 0.5
    return 6.0 if queue_of(slow) else 3.0


def alternative(others: float | None) -> Alternative:
    """Return others' flows as the cause, with how many of them would leave what was measured."""
    text = _("Others' flows fill the link, of which each flow has its share.")
    if others is not None:
        text = _("Others' flows fill the link, of which each flow has its share: about %(count)s of them leave this.")
    return Alternative(
        Message(text, {"count": f"{others or 0:.0f}"}),
        Message(
            _("Look at the load of the links meanwhile, and measure at night: the rate of one stream would rise.")
        ),
        Proposal("pathload"),
    )
