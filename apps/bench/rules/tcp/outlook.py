"""What one stream would have with a larger window, and what was measured that speaks against one."""

import math
from dataclasses import dataclass, replace

from apps.bench.rules import pace
from apps.bench.rules.base import BELOW, Evidence
from apps.bench.rules.tcp import held, unlike, verdict
from apps.bench.rules.tcp.asked_elsewhere import windows_in_vain
from apps.bench.rules.tcp.better import better_window, explicits
from apps.bench.rules.tcp.loss_law import MUCH, WITHIN, read_loss_law
from apps.bench.rules.tcp.lost import LIKELY, lost_instead
from apps.bench.rules.tcp.path import PathReading
from apps.bench.rules.tcp.present import (
    RMEM,
    UNSCALED,
    WMEM,
    Present,
    is_plain,
    least_window,
    read_all,
    read_present,
)  # fmt: skip
from apps.bench.rules.tcp.sweeps import is_tcp, scatter_of
from apps.bench.rules.tcp.verdict import receiver, refuted, window
from apps.bench.rules.tcp.verdict.case import FULL, STAYED
from apps.bench.statistics.bounds import Within
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

OBSERVED = "window_observed"
# A stream whose window leaves room for so many times its rate, and that has less than this of the path, is held by
# something else; so far advice on windows counts then.
ROOM, NOT_FULL, DOUBTED = 2.0, 0.8, 0.5
# The least window fills the path only if nothing ever waits; so many times it rides out a queue's worth of delay.
ADVISED = 2
# Who waited so small a share of its time for a window has room; the largest window that was seen is no mean.
NO_WAIT, SEEN_ROOM = 0.05, 3.0


@dataclass(frozen=True)
class Outlook(Within):
    """What a larger window would reach (bit/s), with its interval, None where nothing measured tells.

    `in_the_way` is what would keep it from gaining anything, `against` what was measured that speaks against it;
    `is_vain` says that programs that ask for a window gain nothing by a larger one. `is_open` says that something is
    in the way of larger windows, though one that was asked for surely had more than the kernel's own; `is_untried`
    that the receiver's window stays small whatever its kernel allows, and nobody asked for a larger one.
    """

    rate: float | None
    interval: tuple[float, float] | None
    in_the_way: Message | None = None
    against: Message | None = None
    is_vain: bool = False
    is_open: bool = False
    is_untried: bool = False

    @property
    def objections(self) -> tuple[Message, ...]:
        """Return all that speaks against a larger window."""
        return tuple(message for message in (self.in_the_way, self.against) if message)

    def trust(self, path_trust: float) -> float:
        """Return how far advice on the window is to be trusted whose figures of the path are trusted so far."""
        return min(path_trust, DOUBTED) if self.objections else path_trust


def read_outlook(evidence: Evidence, path: PathReading) -> Outlook:
    """Return what one stream with window enough would have: what a larger one had, or as much as now.

    Where one that was measured surely had more, nothing is in the way of all of them.
    """
    outlook, present = _outlook_now(evidence, path), read_present(evidence)
    better = better_window(evidence, present) if present and outlook.in_the_way else None
    if better is None:
        elsewhere = None if outlook.objections else windows_in_vain(evidence, path)
        return replace(outlook, against=elsewhere) if elsewhere else outlook
    text = _("A window of %(window)s had %(rate)s, more than the kernel's own; not every larger one had.")
    return Outlook(None, None, against=Message(text, _params_of(better, path)), is_open=True)


def _outlook_now(evidence: Evidence, path: PathReading) -> Outlook:
    """Return what one stream with window enough would have, as the limit found now lets it.

    Whatever it has more than now is not known before it was measured: the next limit may be any other.
    """
    limit, present, single = verdict.conclude(evidence), read_present(evidence), _roomy_single(evidence, path)
    if refutation := refuted.by_measurements(evidence, path, present):
        return Outlook(present.rate if present else None, None, in_the_way=refutation)
    if present is None:
        explicit = _of_explicit(evidence, path, single)
        if not explicit.objections and (elsewhere := windows_in_vain(evidence, path)):
            return Outlook(None, None, in_the_way=elsewhere)
        return explicit if explicit.objections else _as_datagrams(evidence, None) or explicit
    if (limit is None or limit.subject != verdict.PATH) and (more := _as_held_already(present, path)):
        return more
    if single is not None and (limit is None or limit.subject == window.SUBJECT):
        return _as_tried(evidence, path, single, present, is_window=limit is not None)
    if limit is None and (standing := unlike.queue_of(present)):
        return Outlook(present.rate, None, in_the_way=standing)
    if limit is None and present.lost_share is None and (by_chance := _as_datagrams(evidence, present)):
        return by_chance
    if limit is None:
        lost = _as_lost(present, path)
        return lost if lost.in_the_way else _as_roomy(evidence, present, path) or lost
    if limit.subject == window.SUBJECT:
        # A larger window that was tried may have been the limit itself, unless the path was full with it.
        fills = not path.capacity.is_lower_bound and (limit.predicted or 0.0) >= FULL * path.ceiling_bps
        return Outlook(limit.predicted, limit.predicted_interval) if fills else Outlook(None, None)
    if limit.subject == verdict.PATH:
        reach = path.reachable_bps
        # As now it has what it has, and what was had beside it at most.
        interval = (min(reach[0], present.rate), max(reach[1], present.rate)) if reach else None
        return Outlook(present.rate, interval, Message(_("The path is filled already.")))
    if limit.subject in (receiver.SUBJECT, receiver.CLAMP):
        return _as_asked(evidence, path, present)
    text = _("Loss limits the rate now: a larger window alone gains nothing.")
    if limit.subject == verdict.PROCESSOR:
        text = _("A processor limits the rate now: a larger window alone gains nothing.")
    return Outlook(present.rate, None, Message(text))


def _as_held_already(present: Present, path: PathReading) -> Outlook | None:
    """Return that a window which is advised for the path would be smaller than what is on the way now.

    Packets wait in a queue then, or the RTT is not that of their way.
    """
    rtt = present.mean("min_rtt")
    if present.streams != 1 or rtt is None or present.window(rtt) <= ADVISED * path.bdp_bytes:
        return None
    text = _(
        "At %(rate)s %(size)s are on the way already, by TCP's minimum RTT of %(rtt)s: more than the path would hold."
    )
    params = {"size": format_quantity(round(present.window(rtt)), "B"), "rtt": format_quantity(rtt, "s")}
    against = Message(text, params | {"rate": format_quantity(present.rate, "bit/s")})
    return Outlook(None, None, against=against, is_untried=True)


def _as_asked(evidence: Evidence, path: PathReading, present: Present) -> Outlook:
    """Return what a larger window gains where the receiver's stays small: nothing, if one asked for had no more."""
    least = ROOM * present.window(path.rtt.longest)
    requests = [item for item in explicits(evidence, present) if refuted.granted_of(item) >= least]
    best = max(requests, key=lambda item: item.rate, default=None)
    if best is None or best.rate >= STAYED * present.rate:
        text = _("The receiver's window stays small whatever its kernel allows: one to be asked for nobody measured.")
        return Outlook(None, None, against=Message(text), is_untried=True)
    text = _("A window of %(window)s that was asked for had %(rate)s, no more than the kernel's own.")
    params = {
        "window": format_quantity(best.point.parameters["window"], "B"),
        "rate": format_quantity(best.rate, "bit/s"),
    }
    return Outlook(present.rate, None, in_the_way=Message(text, params))


def _as_datagrams(evidence: Evidence, present: Present | None) -> Outlook | None:
    """Return what the chance by which datagrams are lost lets a larger window have; None where it tells nothing.

    What any kernel's window fills needs no larger one; where the present rate is more TCP loses less than that.
    """
    left = unlike.left_by_datagrams(evidence)
    if left is None or (present is not None and present.rate > WITHIN * left.rate):
        return None
    if left.window <= UNSCALED or (present is not None and WITHIN * present.rate >= left.rate):
        return Outlook(present.rate if present else None, None, in_the_way=left.message)
    return Outlook(None, None, against=left.message)


def _as_lost(present: Present, path: PathReading) -> Outlook:
    """Return what the loss seen now lets a larger window have, where it explains the rate; else nothing is known."""
    if lost_instead(present, None, path.rtt.value) != LIKELY:
        return Outlook(None, None)
    if present.may_be_late:
        # Nobody knows what of it was lost at all.
        return Outlook(None, None)
    params = {"share": f"{100 * (present.lost_share or 0.0):.2g}", "rate": format_quantity(present.rate, "bit/s")}
    law = read_loss_law(present, path.rtt.value)
    is_sure = law is not None and law.rate <= present.rate
    if law is None or not is_sure or not (law.share >= MUCH or held.has_room(present, path.rtt.value)):
        # What was counted are segments: of fewer events, in bursts, more may be left.
        text = _("%(share)s %% of the segments were sent again at %(rate)s: so much loss leaves hardly more.")
        return Outlook(None, None, against=Message(text, params))
    text = _("%(share)s %% of the segments were sent again at %(rate)s: so much loss leaves no more to any window.")
    return Outlook(present.rate, None, in_the_way=Message(text, params))


def _as_roomy(evidence: Evidence, present: Present, path: PathReading) -> Outlook | None:
    """Return that a larger window gains nothing where the one that a single stream has leaves room for more.

    By the kernel's word, by what kernels let windows grow to, or by the window that was seen; None where none tells.
    """
    if present.streams != 1:
        return None
    rtt = max(path.rtt.longest, present.mean("mean_rtt") or 0.0)
    # What leaves room is what both ends surely let be on the way; what they let at most (`most_sent`) tells none.
    on_the_way, sent = math.ceil(present.window(rtt)), least_window(evidence, evidence.sender, WMEM)
    offered = min(present.mean(OBSERVED) or 0.0, sent)
    least = min(least_window(evidence, evidence.receiver, RMEM), sent)
    # With another congestion control, or at another time, the kernels' own window was as large as that.
    automatic = [one for one in _singles(evidence) if not one.point.parameters.get("window")]
    least = max([least, *(one.window(path.rtt.value) for one in automatic)])
    params = {"rate": format_quantity(present.rate, "bit/s"), "size": format_quantity(on_the_way, "B")}
    if present.waited is not None and present.waited <= NO_WAIT:
        text = _(
            "By the kernel's word the connection waited %(share)s %% of its time for a window: something else limits."
        )
        params["share"] = f"{100 * present.waited:.0f}"
    elif ROOM * on_the_way <= least:
        text = _(
            "At %(rate)s only %(size)s are on the way at once, where the kernels let a window grow to %(room)s:"
            " something else limits."
        )
        params["room"] = format_quantity(round(least), "B")
    elif SEEN_ROOM * on_the_way <= offered:
        text = _(
            "At %(rate)s only %(size)s are on the way at once, and its window was %(room)s: something else limits."
        )
        params["room"] = format_quantity(round(offered), "B")
    else:
        return None
    return Outlook(present.rate, None, in_the_way=Message(text, params))


def _of_explicit(evidence: Evidence, path: PathReading, single: Present | None) -> Outlook:
    """Return what explicit windows had, where the kernel's own was not measured: of that they say nothing."""
    if single is not None:
        # What limits there limits a window that the kernel chooses as well.
        return Outlook(None, None, in_the_way=_objection(single, path))
    filling = [item for item in _singles(evidence) if _had(item) and item.rate >= FULL * path.ceiling_bps]
    item = min(filling, key=_had, default=None)
    if item is None or path.capacity.is_lower_bound:
        return Outlook(None, None)
    text = _("With a window of %(window)s one stream fills the path already: %(rate)s.")
    return Outlook(None, None, against=Message(text, _params_of(item, path)), is_vain=True)


def _roomy_single(evidence: Evidence, path: PathReading) -> Present | None:
    """Return the best of single streams whose windows left room for far more than they had of the path."""
    bounds = [
        Present(point, max(rates), 1)
        for point in evidence.points
        if point.statistic == BELOW and is_tcp(point) and is_plain(point) and (rates := point.values("goodput"))
        if point.parameters.get("streams", 1) == 1 and evidence.is_of_way(point)
    ]
    roomy = [item for item in (*_singles(evidence), *bounds) if _room(item, path) >= ROOM * item.rate]
    best = max(roomy, key=lambda item: item.rate, default=None)
    is_short = best is not None and not path.capacity.is_lower_bound and best.rate < NOT_FULL * path.ceiling_bps
    return best if is_short else None


def _singles(evidence: Evidence) -> list[Present]:
    """Return the single streams that nothing at the ends held."""
    singles = [item for item in read_all(evidence) if item.streams == 1 and is_plain(item.point)]
    return [item for item in singles if not pace.flags_of(item.point)]


def _had(item: Present) -> float:
    """Return the explicit window (B) that a stream had: asked for, granted, and seen; 0 of an automatic one."""
    request, granted, observed = (
        item.point.parameters.get("window") or 0,
        item.mean("window_granted"),
        item.mean(OBSERVED),
    )
    return float(min(request, granted / 2 if granted else request, observed or request))


def _room(item: Present, path: PathReading) -> float:
    """Return the rate (bit/s) that the explicit window of a stream allows."""
    return _had(item) * 8 / path.rtt.longest


def _params_of(item: Present, path: PathReading) -> dict[str, object]:
    return {
        "window": format_quantity(round(_had(item)), "B"),
        "rate": format_quantity(item.rate, "bit/s"),
        "room": format_quantity(_room(item, path), "bit/s"),
    }


def _objection(single: Present, path: PathReading) -> Message:
    text = _("A window of %(window)s leaves room for %(room)s and had %(rate)s only: something else limits there.")
    if single.point.statistic == BELOW:
        text = _("A window of %(window)s leaves room for %(room)s and had less than %(rate)s: something else limits.")
    return Message(text, _params_of(single, path))


def _as_tried(
    evidence: Evidence, path: PathReading, single: Present, present: Present, *, is_window: bool
) -> Outlook:
    """Return what a window that left room had; where that is no more than now a larger one gains nothing."""
    objection = _objection(single, path)
    if present.streams == 1 and single.rate > STAYED * present.rate and single.point.statistic != BELOW:
        return Outlook(single.rate, scatter_of(evidence).interval(single.point.values("goodput")), against=objection)
    # Where the automatic window is the limit by other words both are told.
    return Outlook(None, None, against=objection) if is_window else Outlook(present.rate, None, in_the_way=objection)
