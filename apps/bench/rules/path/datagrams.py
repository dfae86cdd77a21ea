"""Datagrams of which a load loses many, where nothing tells whether the path or a limit on the flow takes them."""

from apps.bench.network.loads import ALIKE, LoadPoint
from apps.bench.network.loss_curve import LossCurve
from apps.bench.rules.base import DOUBT, Alternative, Evidence, FindingDraft, Proposal
from apps.bench.rules.path import capacity
from apps.bench.rules.tcp import estimates
from apps.bench.text import Message, _
from apps.bench.units import canonical_text, format_quantity, percent

RULE, VERSION = "path-datagrams", 2
# A load that loses less than this of what it offers is hardly held.
LEAST_LOST = 0.05


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
    reasons = [Message(_("Of %(offered)s offered %(arrived)s arrived, and %(lost)s %% was lost."), params)]
    if curve.whole and curve.whole < heaviest.offered:
        reasons.append(Message(_("A load of %(whole)s arrived whole."), params))
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        title=Message(
            _("Datagrams are held to %(best)s: by the path or by a limit on each flow is undecided"), params
        ),
        why=tuple(reasons),
        value=best.delivered,
        unit="bit/s",
        formula=f"R (1 - p) = {params['offered']} · (1 - {heaviest.loss:.2g}) = {params['arrived']}",
        evidence=trials,
        confidence=0.6,
        applies_when=Message(_("One flow of datagrams on this path and in this direction.")),
        limits=(Message(_("It is no capacity of the path: one flow does not tell it.")),),
        source="RFC 5136, section 2.3",
        alternatives=_alternatives(heaviest.offered),
        missing=(Message(_("What several flows have together, and what other means tell of the capacity.")),),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 2, 4"}), Proposal("pathrate")),
    )


def _held(curve: LossCurve) -> list[LoadPoint]:
    """Return the loads that lost much, and more than chance takes of the smaller ones.

    One that lost though a larger one arrived whole was disturbed: nothing holds datagrams below what arrived.
    """
    chance = curve.chance_below(curve.arrived)
    least = max(LEAST_LOST, ALIKE * chance.share if chance else 0.0)
    return [point for point in curve.free if point.loss >= least and point.offered > (curve.whole or 0.0)]


def _alternatives(rate: float) -> tuple[Alternative, ...]:
    load = canonical_text(max(1_000_000, round(rate, -6)), "rate")
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
