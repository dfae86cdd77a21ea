"""In what settings of about one rate are unlike: what they send again, and how long their packets wait."""

from dataclasses import dataclass

from apps.bench.rules.base import Evidence
from apps.bench.rules.tcp import estimates, held
from apps.bench.rules.tcp.loss_law import MUCH, WITHIN, left_by_chance
from apps.bench.rules.tcp.path import read_path
from apps.bench.rules.tcp.present import STANDS, Present, read_all
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

# Much that is sent again is told where it is so many times that of another; where no time is known, so many segments
# a run.
TIMES, MANY = 1.5, 100
# Of what a path holds loss leaves one stream less than this: then loss is what limits.
FEW = 0.8


@dataclass(frozen=True)
class Left:
    """What datagrams lost by chance say: what TCP has left (bit/s), the window (B) that this fills, and the words.

    `had` is the most that one stream had (bit/s, 0 where nobody measured), where that is surely more than it leaves.
    """

    rate: float
    window: float
    message: Message
    had: float = 0.0

    @property
    def is_refuted(self) -> bool:
        """Return whether streams had more than chance leaves them: then datagrams are not lost by chance."""
        return self.had > 0


def again_of(item: Present) -> tuple[float, bool] | None:
    """Return the share of segments sent again and True, else how many in a run and False; None if nobody counted."""
    if item.lost_share is not None:
        return item.lost_share, True
    count = item.mean("retransmits")
    return None if count is None else (count, False)


def is_lossier(item: Present, other: Present | None) -> bool:
    """Return whether a setting sends much again, and more than another did of which that is known."""
    own, others = again_of(item), again_of(other) if other is not None else None
    if own is None or own[0] < (MUCH if own[1] else MANY):
        return False
    return others is None or others[1] != own[1] or own[0] > TIMES * others[0]


def said_of_loss(item: Present, other: Present | None) -> Message:
    """Return what is sent again at the rate of a setting, and at that of another."""
    own, others = again_of(item), again_of(other) if other is not None else None
    params = {"rate": format_quantity(item.rate, "bit/s"), "again": _again(own)}
    if other is None or others is None:
        return Message(_("Sent again at %(rate)s: %(again)s."), params)
    text = _("Sent again at %(rate)s: %(again)s; at %(less)s: %(before)s. So much is the price of ×%(times)s.")
    params |= {
        "less": format_quantity(other.rate, "bit/s"),
        "before": _again(others),
        "times": f"{item.rate / other.rate:.2f}",
    }
    return Message(text, params)


def is_slower(item: Present, other: Present | None) -> bool:
    """Return whether packets wait much longer at a setting than at another, or than when nothing is sent."""
    own = item.mean("mean_rtt")
    before = (other.mean("mean_rtt") if other is not None else None) or item.mean("min_rtt")
    return bool(own and before and own >= STANDS * before)


def said_of_delay(item: Present, other: Present | None) -> Message:
    """Return the RTT under load of a setting beside that of another, else beside the least."""
    before = (other.mean("mean_rtt") if other is not None else None) or item.mean("min_rtt")
    text = _("At %(rate)s the RTT is %(loaded)s instead of %(before)s: the rest waits in a queue, and delays others.")
    params = {
        "rate": format_quantity(item.rate, "bit/s"),
        "loaded": format_quantity(item.mean("mean_rtt") or 0.0, "s"),
        "before": format_quantity(before or 0.0, "s"),
    }
    return Message(text, params)


def queue_of(item: Present) -> Message | None:
    """Return that a queue stands at a setting already: a larger window only lengthens it; None where none does."""
    idle, loaded = item.mean("min_rtt"), item.mean("mean_rtt")
    if not (item.has_queue and idle and loaded):
        return None
    text = _(
        "A queue stands already at %(rate)s, with an RTT of %(loaded)s instead of %(idle)s: more window waits there."
    )
    params = {"rate": item.rate, "loaded": loaded, "idle": idle}
    units = {"rate": "bit/s", "loaded": "s", "idle": "s"}
    return Message(text, {name: format_quantity(value, units[name]) for name, value in params.items()})


def left_by_datagrams(evidence: Evidence) -> Left | None:
    """Return what the chance by which datagrams are lost leaves one stream.

    None where it leaves about the path, or where what is lost does not come by chance: runs lose unevenly, or streams
    had more than it leaves.
    """
    left = chance_left(evidence)
    return None if left is None or left.is_refuted else left


def chance_left(evidence: Evidence) -> Left | None:
    """Return what is left to one stream if datagrams are lost by chance, and whether streams had more than that.

    None where it leaves about the path, or runs lose so unevenly that it is no chance. What one stream had is left to
    it at least: a law that says less is no limit.
    """
    path = read_path(evidence)
    chance = estimates.chance_of(evidence, path.capacity.value) if path else None
    if path is None or chance is None:
        return None
    own, rtt = chance[1], path.rtt.value
    rate = _left(evidence, own.share, rtt)
    if not rate or rate >= FEW * path.ceiling_bps or not own.is_even:
        return None
    text = _(
        "Of datagrams %(share)s %% are lost: by chance that leaves one stream about %(rate)s, whatever its window."
    )
    params = {"share": f"{100 * own.share:.2g}", "rate": format_quantity(float(f"{rate:.2g}"), "bit/s")}
    beyond, most = _beyond(evidence, own.low, rtt), max(_rates_of_streams(evidence), default=0.0)
    if not beyond and most > rate:
        carried = path.stated_bps if path.capacity.is_lower_bound else path.ceiling_bps
        if carried and most >= FEW * carried:
            return None
        text = _(
            "Of datagrams %(share)s %% are lost: by chance the law leaves one stream about %(rate)s, and one had"
            " %(had)s."
        )
        params["had"] = format_quantity(most, "bit/s")
        rate = most
    return Left(rate, rate * rtt / 8, Message(text, params), beyond)


def _left(evidence: Evidence, share: float, rtt_s: float) -> float:
    return left_by_chance(held.frame_of(evidence) - held.HEADERS, share, rtt_s)


def _beyond(evidence: Evidence, share: float, rtt_s: float) -> float:
    """Return what each of some streams had (bit/s), surely more than a share of loss leaves it; BBR heeds it little.

    0 where none had.
    """
    most = WITHIN * _left(evidence, share, rtt_s)
    return max((rate for rate in _rates_of_streams(evidence) if rate > most), default=0.0)


def _rates_of_streams(evidence: Evidence) -> list[float]:
    """Return what each stream of a setting had (bit/s), of those that heed loss as the laws suppose."""
    return [item.rate / item.streams for item in read_all(evidence) if not item.congestion.startswith("bbr")]


def again_text(item: Present) -> str:
    """Return what a setting sends again, as a sentence has it: a share, or how many segments in a run."""
    return _again(again_of(item))


def _again(again: tuple[float, bool] | None) -> str:
    if again is None:
        return "?"
    value, is_share = again
    if is_share:
        return f"{percent(value)} %" if value >= 0.1 else f"{100 * value:.2g} %"
    return f"{value:,.0f}"
