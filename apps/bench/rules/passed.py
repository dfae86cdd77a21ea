"""What came through a path in another campaign: the path holds at least so much, whoever asks."""

from dataclasses import dataclass

from apps.bench.text import Message, _
from apps.bench.units import format_quantity


@dataclass(frozen=True)
class Passed:
    """A rate (bit/s) that came through the same way of a path, in which campaign, and the day ("": not known)."""

    rate_bps: float
    campaign: str
    day: str = ""

    @property
    def message(self) -> Message:
        """Return it in words, as what speaks against a lower capacity."""
        text = _("In the campaign %(campaign)s %(rate)s came through the same way: the path holds that at least.")
        if self.day:
            text = _(
                "In the campaign %(campaign)s, on %(day)s (UTC), %(rate)s came through the same way: the path holds"
                " that at least, unless it changed."
            )
        params = {"campaign": self.campaign, "rate": format_quantity(self.rate_bps, "bit/s"), "day": self.day}
        return Message(text, {name: value for name, value in params.items() if value})
