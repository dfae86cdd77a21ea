"""Outputs that say one thing twice: where the two differ by more than rounding, neither is sure."""

from collections.abc import Iterable

from apps.bench import units
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag
from apps.bench.toolkit.doubts import CONTRADICTS

# Two ways to one figure may differ by this share beside what was rounded: what was under way at the end.
TOLERANCE = 0.01


def datagram_flags(
    counted_bps: float | None,
    datagrams: float | None,
    length: float | None,
    seconds: float | None,
    metrics: Iterable[str],
    rounding: float = 0.0,
) -> list[Flag]:
    """Say when the rate by bytes (bit/s) is not that of the datagrams that arrived, of `length` B each in `seconds`.

    `rounding` is the share by which printed figures may differ; what is not told contradicts nothing.
    """  # fmt: skip
    if not counted_bps or not datagrams or not length or not seconds:
        return []
    by_datagrams = datagrams * length * 8 / seconds
    if abs(counted_bps - by_datagrams) <= (TOLERANCE + rounding) * max(counted_bps, by_datagrams):
        return []
    text = _("The output contradicts itself: %(first)s by the bytes that arrived, %(second)s by the datagrams.")
    values = {
        "first": units.format_quantity(counted_bps, "bit/s"),
        "second": units.format_quantity(by_datagrams, "bit/s"),
    }
    return [Flag(CONTRADICTS, "warning", Message(text, values), tuple(metrics))]
