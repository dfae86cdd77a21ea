"""What one stream has of what the path holds, in words that say where that figure comes from."""

from apps.bench.rules.tcp.path import PathReading
from apps.bench.text import Message, _
from apps.bench.units import format_quantity


def had_of(path: PathReading, rate: float, *, is_bound: bool) -> Message:
    """Return what one stream has of a path; `is_bound` says that it has less than the rate (bit/s)."""
    below = _("One stream has less than %(rate)s of the %(ceiling)s that the path holds.")
    has = _("One stream has %(rate)s of the %(ceiling)s that the path holds.")
    params = {"rate": format_quantity(rate, "bit/s"), "ceiling": format_quantity(path.ceiling_bps, "bit/s")}
    if path.capacity.campaign:
        below = _(
            "One stream has less than %(rate)s of the %(ceiling)s that came through in the campaign %(campaign)s."
        )
        has = _("One stream has %(rate)s of the %(ceiling)s that came through in the campaign %(campaign)s.")
        params["campaign"] = path.capacity.campaign
    elif path.capacity.is_lower_bound:
        below = _("One stream has less than %(rate)s of the %(ceiling)s that arrived at most.")
        has = _("One stream has %(rate)s of the %(ceiling)s that arrived at most.")
    elif path.capacity.is_stated:
        below = _("One stream has less than %(rate)s of the %(ceiling)s that the links would carry as described.")
        has = _("One stream has %(rate)s of the %(ceiling)s that the links would carry as described.")
    return Message(below if is_bound else has, params)
