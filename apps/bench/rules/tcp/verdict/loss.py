"""Loss as the limit: segments were lost, the window left room, and the rate is about what such loss leaves (R7)."""

from apps.bench.rules.base import Alternative, FindingDraft, Proposal
from apps.bench.rules.tcp import estimates, held
from apps.bench.rules.tcp.sweeps import confidence_of
from apps.bench.rules.tcp.verdict.case import Case, make_draft, rates_around
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

SUBJECT = "loss"
# Where so much of the path is had its own queue loses segments, and streams that are held by chance multiply.
MOST_OF_PATH = 0.75


def conclude(case: Case) -> FindingDraft | None:
    """Return that loss is the limit, if segments were lost and the window left room, at about Mathis's rate."""
    present, by_law = case.present, held.by_loss(case.present, case.rtt)
    lost, own = present.lost_share, present.kernel.get("congestion_window_limited")
    if by_law is None or lost is None or case.better:
        return None
    if case.lost_by_udp is not None and case.lost_by_udp <= estimates.CLEAN * lost:
        # Datagrams lost nothing: it is not chance, but what TCP itself sends too much of.
        return None
    # More streams would each have as much, and a path so nearly filled loses of its own.
    is_shared = case.growth is not None and not case.growth.multiplies and case.growth.levels_off
    most = case.path.stated_bps if case.path.capacity.is_lower_bound else case.path.ceiling_bps
    if is_shared or not most or present.rate > MOST_OF_PATH * most:
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
        confidence=confidence_of(
            (isinstance(own, float) and own >= held.WAITED, 0.15), (len(present.trials) > 1, 0.15), base=0.5
        ),
        alternatives=(
            Alternative(
                Message(_("The loss comes of a queue that is too short for the sender's bursts, not by chance.")),
                Message(_("Measure UDP at half the rate: chance loses there too, a short queue does not.")),
                Proposal("iperf3-udp", {}, {"rate": rates_around(present.rate)}),
            ),
            Alternative(
                Message(
                    _("A policer drops what each flow sends above about %(rate)s."),
                    {"rate": format_quantity(present.rate / present.streams, "bit/s")},
                ),
                Message(
                    _("Measure UDP at half and at twice the rate: a policer takes nothing of the load below it.")
                ),
                Proposal("iperf3-udp", {}, {"rate": rates_around(present.rate)}),
            ),
        ),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"congestion": "cubic, bbr"}),),
    )
