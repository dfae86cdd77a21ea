"""What else than a full link takes datagrams where more are lost than that loses, as the panel of UDP says it."""

from apps.bench.network.loss_curve import LoadPoint, LossCurve
from apps.bench.rules.base import Alternative, Proposal
from apps.bench.text import Message, _
from apps.bench.units import format_quantity


def causes_of(
    curve: LossCurve | None, worst: LoadPoint | None, *, has_larger_buffer: bool = False
) -> tuple[Alternative, ...]:
    """Return why UDP loses more of a load than a full link does, with the experiment for each; () where it does not.

    `has_larger_buffer` says that the receiver's buffer was tried, and is none of them.
    """
    if curve is None or worst is None or curve.full is None:
        return ()
    load = format_quantity(worst.offered, "bit/s")
    params = {"load": load, "ratio": f"{curve.excess(worst) or 0:.1f}", "pieces": f"{curve.exponent or 1:.1f}"}
    fragments = Alternative(
        Message(
            _("Datagrams sent in fragments: at %(load)s %(ratio)s times a full link's loss (n = %(pieces)s)."), params
        ),
        Message(_("Offer the same load in datagrams that fit a frame.")),
        Proposal("iperf3-udp", {"rate": load_text(worst.offered)}, {"length": "1400 B, 5888 B"}),
    )
    buffer = Alternative(
        Message(_("The receiver's socket buffer overflows: what arrives is lost in its kernel.")),
        Message(_("Look at the count of receive buffer errors, and ask for a larger buffer.")),
        Proposal("iperf3-udp", {"rate": load_text(worst.offered)}, {"window": "0 B, 4 MiB"}),
    )
    policer = Alternative(
        Message(_("A policer drops all above a rate, bursts first.")),
        Message(_("Offer loads in small steps around the knee, with and without pacing by the sender.")),
        Proposal("iperf3-udp", {}, {"rate": f"{load_text(0.8 * curve.full)}..{load_text(1.2 * curve.full)} /8"}),
    )
    return (fragments, *([] if has_larger_buffer else [buffer]), policer)


def load_text(rate: float) -> str:
    """Return a load to offer as a person writes it."""
    return f"{max(1, round(rate / 1e6))} Mbit/s"
