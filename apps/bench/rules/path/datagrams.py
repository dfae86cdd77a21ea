"""Datagrams of which a load loses many, where nothing tells whether the path or a limit on the flow takes them."""

from typing import Any, NamedTuple

from apps.bench.network.loads import ALIKE, LoadPoint
from apps.bench.network.loss_curve import LossCurve, explain_excess
from apps.bench.rules.base import DOUBT, Alternative, Evidence, FindingDraft, Proposal
from apps.bench.rules.path import capacity, excess, means
from apps.bench.rules.tcp import estimates, members
from apps.bench.rules.tcp.estimates import Arrived
from apps.bench.rules.tcp.present import Present, read_all
from apps.bench.rules.tcp.scatter import mean
from apps.bench.rules.told import known_or_none
from apps.bench.text import Message, _
from apps.bench.units import canonical_text, format_quantity, percent

RULE, VERSION = "path-datagrams", 9
# A load that loses less than this of what it offers is hardly held.
LEAST_LOST = 0.05
# Datagrams are shorter that have this part of another length; as much arrives from this share of a rate on.
SHORTER, ALIKE_RATE = 0.75, 0.9
# TCP has more than datagrams from this many times their rate on.
MORE = 1 + means.AGREE


class Streams(NamedTuple):
    """What TCP had of the same way: the best per stream, and the most of several together; None if not measured."""

    each: Present | None
    together: Present | None

    def has_more_each(self, rate: float) -> bool:
        """Return whether one stream had more than datagrams: no link holds these, and no limit on each flow."""
        return self.each is not None and self.each.rate / self.each.streams > MORE * rate

    def has_more_together(self, rate: float) -> bool:
        """Return whether streams together had more than datagrams: no link holds these."""
        return self.together is not None and self.together.rate > MORE * rate


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return what came of the loads, and what would decide what held them; None where another finding tells it."""
    return None if means.is_told_beside(evidence) else _conclude_way(means.of_way(evidence))


def _conclude_way(evidence: Evidence) -> FindingDraft | None:
    curve, trials = estimates.loss_curve_of(evidence)
    lossy = _held(curve) if curve else []
    if curve is None or not lossy or capacity.conclude_way(evidence):
        return None
    heaviest = max(lossy, key=lambda point: point.offered)
    best = max(curve.free, key=lambda point: point.delivered)
    params = {
        "offered": format_quantity(heaviest.offered, "bit/s"),
        "arrived": format_quantity(heaviest.delivered, "bit/s"),
        "lost": percent(heaviest.loss),
        "best": format_quantity(best.delivered, "bit/s"),
        "whole": format_quantity(curve.whole, "bit/s") if curve.whole else "",
    }
    arrived, *others = estimates.arrived_by_length(evidence)
    reasons = [Message(_("Of %(offered)s offered %(arrived)s arrived, and %(lost)s %% was lost."), params)]
    title = _("Datagrams are held to %(best)s: by the path or by a limit on each flow is undecided")
    if arrived.length and ({item.length for item in others} - {arrived.length} or means.short_datagram_of(evidence)):
        title = _("Datagrams of %(length)s are held to %(best)s: by what is undecided")
        params["length"] = format_quantity(arrived.length, "B")
        reasons += _other_lengths(arrived, others)
    streams = _streams_of(evidence)
    tcp_trials: tuple[int, ...] = ()
    if streams.each and streams.has_more_each(best.delivered):
        title = _(
            "Datagrams are held to %(best)s, by no link and by no limit on every flow: a stream of TCP had %(tcp)s"
        )
        params["tcp"] = format_quantity(streams.each.rate / streams.each.streams, "bit/s")
        tcp_trials = streams.each.trials
    elif streams.together:
        params |= {
            "count": str(streams.together.streams),
            "together": format_quantity(streams.together.rate, "bit/s"),
        }
        tcp_trials = streams.together.trials
        if streams.has_more_together(best.delivered):
            title = _(
                "Datagrams are held to %(best)s, by no link: %(count)s streams of TCP together had %(together)s"
            )
        else:
            reasons.append(Message(_("%(count)s streams of TCP together had %(together)s."), params))
    fallen = _fallen(curve, lossy, best)
    if fallen:
        # Nothing that is full, and no limit that holds a flow, lets less through the more is offered.
        title = _("The more datagrams are offered the fewer arrive: %(best)s at most, and %(fewest)s of %(load)s")
        params["fewest"] = format_quantity(fallen.delivered, "bit/s")
        params["load"] = format_quantity(fallen.offered, "bit/s")
        reasons += [*explain_excess(curve), *_stream_beside(streams, best.delivered)]
    if curve.whole and curve.whole < heaviest.offered:
        reasons.append(Message(_("A load of %(whole)s arrived whole."), params))
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        title=Message(title, params),
        why=tuple(reasons),
        against=tuple(means.other_times(evidence)),
        value=best.delivered,
        unit="bit/s",
        formula=f"R (1 - p) = {params['offered']} · (1 - {heaviest.loss:.2g}) = {params['arrived']}",
        evidence=tuple(sorted({*trials, *tcp_trials})),
        confidence=0.6,
        applies_when=Message(_("One flow of datagrams on this path and in this direction.")),
        limits=(Message(_("It is no capacity of the path: one flow does not tell it.")),),
        source="RFC 5136, section 2.3",
        alternatives=excess.causes_of(
            curve, fallen and (curve.worst or fallen), has_larger_buffer=_has_larger_buffer(evidence, heaviest)
        )
        or (
            *_alternatives(heaviest, best.delivered, streams, evidence),
            *_by_number(arrived, others, heaviest.offered),
        ),
        **_open(evidence, streams, best.delivered),
    )


def _fallen(curve: LossCurve, lossy: list[LoadPoint], best: LoadPoint) -> LoadPoint | None:
    """Return the load of which least arrived, where it is less than of smaller ones; None where it is as much."""
    least = min(lossy, key=lambda point: point.delivered)
    is_less = least.delivered < ALIKE_RATE * best.delivered and least.offered > best.offered
    return least if curve.worst or is_less else None


def _stream_beside(streams: Streams, rate: float) -> list[Message]:
    """Return what one stream of TCP had where it is more than arrived of datagrams."""
    if streams.each is None or not streams.has_more_each(rate):
        return []
    text = _("One stream of TCP had %(rate)s.")
    return [Message(text, {"rate": format_quantity(streams.each.rate / streams.each.streams, "bit/s")})]


def _streams_of(evidence: Evidence) -> Streams:
    """Return what streams of TCP had on the same way, each and together."""
    items = read_all(evidence)
    several = [item for item in items if item.streams > 1]
    return Streams(
        max(items, key=lambda item: item.rate / item.streams, default=None),
        max(several, key=lambda item: item.rate, default=None),
    )


def _open(evidence: Evidence, streams: Streams, rate: float) -> dict[str, Any]:
    """Return what is still unmeasured, and what would measure it: nothing that was."""
    if streams.has_more_each(rate):
        return {}
    is_flows, is_means = streams.together is None, estimates.by_dispersion(evidence) is None
    text = _("What several flows have together, and what other means tell of the capacity.")
    if not is_means:
        text = _("What several flows have together.")
    elif not is_flows:
        text = _("What other means tell of the capacity.")
    proposals = [Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 2, 4"})] if is_flows else []
    proposals += [Proposal("pathrate")] if is_means else []
    return {"missing": (Message(text),) if proposals else (), "proposals": tuple(proposals)}


def _other_lengths(arrived: Arrived, others: list[Arrived]) -> list[Message]:
    """Return what arrived at most of datagrams of each other length."""
    text = _("Of datagrams of %(length)s %(rate)s arrived at most.")
    best = {item.length: item for item in reversed(others) if item.length and item.length != arrived.length}
    units = {"length": "B", "rate": "bit/s"}
    return [
        Message(text, {name: format_quantity(getattr(item, name), unit) for name, unit in units.items()})
        for item in best.values()
    ]


def _by_number(arrived: Arrived, others: list[Arrived], rate: float) -> tuple[Alternative, ...]:
    """Return that an end takes so many datagrams a second, unless no more arrived of longer ones than of shorter."""
    if not arrived.datagrams or not arrived.length:
        return ()
    shorter = [item for item in others if item.length and item.length <= SHORTER * arrived.length]
    longer = [item for item in others if item.length and arrived.length <= SHORTER * item.length]
    if longer or any(item.rate >= ALIKE_RATE * arrived.rate for item in shorter):
        # So many a second would be as many times the rate as they are longer.
        return ()
    text = _("An end takes no more than %(count)s datagrams a second, however long they are.")
    test = _("Offer the same load in datagrams of half the length: so many a second are half the rate then.")
    lengths = f"{arrived.length // 2} B, {arrived.length} B"
    proposal = Proposal("iperf3-udp", {"rate": _load(rate)}, {"length": lengths})
    return (Alternative(Message(text, {"count": f"{arrived.datagrams:,.0f}"}), Message(test), proposal),)


def _load(rate: float) -> str:
    return canonical_text(max(1_000_000, round(rate, -6)), "rate")


def _held(curve: LossCurve) -> list[LoadPoint]:
    """Return the loads that lost much, and more than chance takes of the smaller ones.

    One that lost though a larger one arrived whole was disturbed: nothing holds datagrams below what arrived.
    """
    chance = curve.chance_below(curve.arrived)
    least = max(LEAST_LOST, ALIKE * chance.share if chance else 0.0)
    return [point for point in curve.free if point.loss >= least and point.offered > (curve.whole or 0.0)]


def _alternatives(heaviest: LoadPoint, rate: float, streams: Streams, evidence: Evidence) -> tuple[Alternative, ...]:
    """Return what may hold the datagrams, without what was measured already speaks against."""
    load = _load(heaviest.offered)
    link = Alternative(
        Message(_("A link is full: by its rate, or by others' traffic.")),
        Message(_("Several streams of TCP together have no more than one flow of datagrams.")),
        members.SEVERAL,
    )
    shaper = Alternative(
        members.HOLDS_A_FLOW,
        Message(_("Several streams of TCP have as many times the rate of one.")),
        members.SEVERAL,
    )
    datagrams_only = Alternative(
        Message(_("A policer of datagrams alone.")),
        Message(_("Look at the counts of the devices on the way: where datagrams are dropped.")),
    )
    buffer = Alternative(
        Message(_("The receiver's socket buffer overflows: what arrives is lost in its kernel.")),
        Message(_("Look at the count of receive buffer errors, and ask for a larger buffer.")),
        Proposal("iperf3-udp", {"rate": load}, {"window": "0 B, 4 MiB"}),
    )
    is_each = streams.has_more_each(rate)
    is_link = not is_each and not streams.has_more_together(rate)
    is_shaper = not is_each and (streams.together is None or streams.has_more_together(rate))
    return (
        *([link] if is_link else []),
        *([shaper] if is_shaper else []),
        *([] if _has_larger_buffer(evidence, heaviest) else [buffer]),
        *([datagrams_only] if is_each else []),
    )


def _has_larger_buffer(evidence: Evidence, heaviest: LoadPoint) -> bool:
    """Return whether the load was offered with a larger buffer, too, and no more of it arrived."""
    rates = [
        mean(point.values("goodput"))
        for point in evidence.points
        if known_or_none(point.parameters, "window")
        and point.values("goodput")
        and point.values("loss")
        and (estimates.offered_of(point) or 0.0) >= ALIKE_RATE * heaviest.offered
    ]
    return bool(rates) and max(rates) <= MORE * heaviest.delivered
