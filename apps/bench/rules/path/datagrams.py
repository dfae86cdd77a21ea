"""Datagrams of which a load loses many, where nothing tells whether the path or a limit on the flow takes them."""

from apps.bench.network.loads import ALIKE, LoadPoint
from apps.bench.network.loss_curve import LossCurve
from apps.bench.rules.base import DOUBT, Alternative, Evidence, FindingDraft, Proposal
from apps.bench.rules.path import capacity, means
from apps.bench.rules.tcp import estimates
from apps.bench.rules.tcp.estimates import Arrived
from apps.bench.text import Message, _
from apps.bench.units import canonical_text, format_quantity, percent

RULE, VERSION = "path-datagrams", 4
# A load that loses less than this of what it offers is hardly held.
LEAST_LOST = 0.05
# Datagrams are shorter that have this part of another length; as much arrives from this share of a rate on.
SHORTER, ALIKE_RATE = 0.75, 0.9


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return what came of the loads, and what would decide what held them; None where another finding tells it."""
    curve, trials = estimates.loss_curve_of(evidence)
    lossy = _held(curve) if curve else []
    if curve is None or not lossy or capacity.conclude(evidence):
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
        evidence=trials,
        confidence=0.6,
        applies_when=Message(_("One flow of datagrams on this path and in this direction.")),
        limits=(Message(_("It is no capacity of the path: one flow does not tell it.")),),
        source="RFC 5136, section 2.3",
        alternatives=(*_alternatives(heaviest.offered), *_by_number(arrived, others, heaviest.offered)),
        missing=(Message(_("What several flows have together, and what other means tell of the capacity.")),),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 2, 4"}), Proposal("pathrate")),
    )


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


def _alternatives(rate: float) -> tuple[Alternative, ...]:
    load = _load(rate)
    return (
        Alternative(
            Message(_("A link is full: by its rate, or by others' traffic.")),
            Message(_("Several streams of TCP together have no more than one flow of datagrams.")),
            Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 2, 4"}),
        ),
        Alternative(
            Message(_("A shaper or policer holds each flow.")),
            Message(_("Several streams of TCP have as many times the rate of one.")),
            Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 2, 4"}),
        ),
        Alternative(
            Message(_("The receiver's socket buffer overflows: what arrives is lost in its kernel.")),
            Message(_("Look at the count of receive buffer errors, and ask for a larger buffer.")),
            Proposal("iperf3-udp", {"rate": load}, {"window": "0 B, 4 MiB"}),
        ),
    )
