"""Loss as the limit: segments were lost, the window left room, and the rate is about what such loss leaves (R7)."""

from apps.bench import model
from apps.bench.rules.base import Alternative, FindingDraft, Proposal
from apps.bench.rules.tcp.sweeps import confidence_of
from apps.bench.rules.tcp.verdict.case import Case, make_draft, rates_around
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

SUBJECT = "loss"
# Share of its time that the congestion window set the pace, from which it is the limit.
WAITED = 0.5
# The windows left room if they would have allowed so many times the rate.
ROOM = 1.5
# Loss agrees with the law within this factor: its constant is 0.9 to 1.3, counts of few segments scatter, and short
# runs hold much of the slow start.
WITHIN = 3.5


def conclude(case: Case) -> FindingDraft | None:
    """Return that loss is the limit, if segments were lost and the window left room, at about Mathis's rate."""
    present, kernel = case.present, case.present.kernel
    lost, congestion = present.lost_share, present.congestion
    law = model.mathis_bps if congestion.startswith("reno") else model.cubic_bps
    by_law = law(present.mss or 1448, case.rtt, lost, present.streams)
    if not lost or not by_law or congestion.startswith("bbr"):
        return None
    allowed, own = present.allowed(case.rtt), kernel.get("congestion_window_limited")
    has_room = bool(allowed and allowed >= ROOM * present.rate) or (isinstance(own, float) and own >= WAITED)
    is_near = 1 / WITHIN <= present.rate / by_law <= WITHIN
    if not has_room or not is_near or case.better or case.path.capacity.is_lower_bound:
        return None
    text = _("%(share)s %% of the segments were sent again; the windows would allow more than was reached.")
    left = _("Random loss so often leaves about %(rate)s (Mathis for Reno, RFC 9438 for CUBIC).")
    shown = {"share": f"{100 * lost:.2g}"}
    return make_draft(
        case,
        SUBJECT,
        title=Message(
            _("Loss is the limit: %(share)s %% of the segments leave %(rate)s"),
            {**shown, "rate": format_quantity(present.rate, "bit/s")},
        ),
        why=(Message(text, shown), Message(left, {"rate": format_quantity(by_law, "bit/s")})),
        value=100 * lost,
        unit="%",
        formula=f"X = N · (MSS · 8 / RTT) · f(p) = {format_quantity(by_law, 'bit/s')}, p = {lost:.2g}",
        predicted=case.path.ceiling_bps,
        interval=(present.rate, case.path.ceiling_bps),
        confidence=confidence_of(
            (isinstance(own, float) and own >= WAITED, 0.15), (len(present.trials) > 1, 0.15), base=0.5
        ),
        alternatives=(
            Alternative(
                Message(_("The loss comes of a queue that is too short for the sender's bursts, not by chance.")),
                Message(_("Measure UDP at half the rate: chance loses there too, a short queue does not.")),
                Proposal("iperf3-udp", {}, {"rate": rates_around(present.rate)}),
            ),
        ),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"congestion": "cubic, bbr"}),),
    )
