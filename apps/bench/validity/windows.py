"""Whether the window that a point is named after was the one in use."""

from apps.bench import units
from apps.bench.text import Message, _
from apps.bench.toolkit import Flag, Params, Reading


def flags(reading: Reading, params: Params) -> list[Flag]:
    """Return whether the kernel granted less buffer than the window asked for, or less than it needs.

    Linux grants twice what is asked for, half of it for its own bookkeeping, and cuts it at its maxima in silence
    (tcp(7), socket(7)).
    """
    window, granted = params.get("window"), _granted(reading)
    if not isinstance(window, int | float) or isinstance(window, bool) or not window or not granted:
        return []
    values = {"granted": units.format_quantity(int(granted), "B"), "asked": units.format_quantity(int(window), "B")}
    if granted < window:
        text = _("The kernel granted %(granted)s, and %(asked)s were asked for: the point is not what it is called.")
        return [Flag("window-not-granted", "invalid", Message(text, values))]
    capped = any(flag.name == "window-capped" for flag in reading.flags)
    if granted >= 2 * window or capped:
        return []
    text = _("The kernel granted %(granted)s for a window of %(asked)s, which needs twice as much.")
    return [Flag("window-capped", "warning", Message(text, values))]


def _granted(reading: Reading) -> float | None:
    """Return the lesser of the buffers granted (B), None if they are not known."""
    sources = [
        reading.value("window_granted"),
        *(reading.granted.get(f"{end}_buffer") for end in ("send", "receive")),
    ]
    sizes = [size for size in sources if isinstance(size, int | float) and not isinstance(size, bool) and size > 0]
    return min(sizes, default=None)
