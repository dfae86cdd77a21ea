"""What may limit a single stream that stays slow though the path holds many times as much, the likeliest first."""

import math
from dataclasses import dataclass

from apps.bench.rules import pace
from apps.bench.rules.base import BELOW, Alternative, Evidence, Point, Proposal
from apps.bench.rules.tcp import crowd, estimates, fingerprints, held, members, reordering, sysctl
from apps.bench.rules.tcp.growth import Growth
from apps.bench.rules.tcp.held import LEAST_AGAIN
from apps.bench.rules.tcp.loss_law import (
    EXPLAINS,
    REFUTED,
    LossLaw,
    loss_leaving,
    may_be_chance,
    read_loss_law,
    said_of_chance,
)
from apps.bench.rules.tcp.path import PathReading
from apps.bench.rules.tcp.present import STANDS, Present
from apps.bench.text import Message, _
from apps.bench.units import canonical_text, format_quantity

# A kernel makes about so much of tcp_rmem's maximum into a window.
KERNEL_SHARE = (0.5, 0.8)
# More than so many times what a buffer holds does not go through it in an RTT.
THROUGH = 1.3
# A window that is the rate by TCP's own RTT is likelier than any other cause.
WINDOW, LARGER = 7.0, 8
# The largest tcp_rmem of Linux 2.4, which far ends of such paths often had.
OLD_LIMIT = 174_760


@dataclass(frozen=True)
class Slow:
    """The slow stream: its rate (bit/s), whether that is only a bound, and what was seen of it."""

    point: Point
    rate: float
    order: reordering.Order | None = None
    most_sent: float = math.inf

    @property
    def is_bound(self) -> bool:
        """Return whether the rate is only known to be less than this."""
        return self.point.statistic == BELOW

    @property
    def present(self) -> Present:
        """Return the stream as any setting of TCP is read."""
        return Present(self.point, self.rate, 1, self.order, self.most_sent)

    @property
    def retransmits(self) -> float | None:
        """Return the mean number of segments sent again, None if nobody counted."""
        return self.mean("retransmits")

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric over its trials, None without any."""
        return self.present.mean(metric)


def causes_of(
    evidence: Evidence, slow: Slow, path: PathReading, growth: Growth, *, is_even: bool, may_be_window: bool
) -> tuple[Alternative, ...]:
    """Return what may limit a flow, the likeliest first: a window, a small buffer, random loss, a shaper, or others.

    A shorter RTT than TCP saw rules none of them out.
    """
    rtt, rate = path.rtt.longest, slow.rate
    window = rate * rtt / 8
    law = read_loss_law(slow.present, rtt)
    text = _("A buffer of about %(window)s B at the far end: so much in each RTT is this rate.")
    if abs(window / OLD_LIMIT - 1) <= fingerprints.NEAR:
        text = _("A buffer of about %(window)s B at the far end: tcp_rmem's limit in Linux 2.4 was 174,760 B.")
    buffer = Message(text, {"window": f"{window:,.0f}"})
    causes = [
        (
            _buffer_weight(evidence, slow, window, law),
            Alternative(
                buffer,
                Message(_("Raise tcp_rmem at the receiver, and list the sockets of both ends during a run.")),
                Proposal(
                    "iperf3-tcp",
                    {"window": "0", "streams": "1"},
                    {f"setting.{evidence.receiver}.net.ipv4.tcp_rmem": "4096 87380 174760, 4096 131072 33554432"},
                ),
            ),
        ),
        (
            _loss_weight(evidence, slow, law, rtt),
            Alternative(
                said_of_chance(slow.present, rtt),
                Message(
                    _("Measure UDP at a tenth of the capacity for a minute, and TCP with BBR, which heeds it less.")
                ),
                Proposal(
                    "iperf3-udp", {"duration": "60 s"}, {"rate": f"{max(1, round(path.ceiling_bps / 1e7))} Mbit/s"}
                ),
            ),
        ),
        (
            1.0,
            Alternative(
                members.HOLDS_A_FLOW,
                Message(
                    _(
                        "One UDP flow at twice this rate: a shaper or a single member delays or drops it, a buffer or"
                        " loss does not. Many streams that have whole multiples of one rate speak for a bundle."
                    )
                ),
                Proposal(
                    "iperf3-udp",
                    {},
                    {"rate": f"{max(1, round(rate / 2e6))} Mbit/s, {max(2, round(rate / 5e5))} Mbit/s"},
                ),
            ),
        ),
    ]
    if pace.flags_of(slow.point):
        processor = Alternative(
            Message(_("A processor, or an end, serves each flow no faster: one was at its limit meanwhile.")),
            Message(_("Look at the load of each processor, and at larger frames, which cost fewer interrupts.")),
            Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 2, 4"}),
        )
        causes.append((5.0, processor))
    if slow.order is not None and held.is_lossy(slow.present) and slow.present.may_be_late:
        causes.append((4.5, reordering.alternative(slow.order, evidence.sender)))
    if may_be_window:
        causes.append((WINDOW, _window(slow, rtt)))
    others = crowd.others_of(growth.rates)
    causes.append((crowd.weight(others, slow.present, is_even=is_even), crowd.alternative(others)))
    likely = [item for item in causes if item[0] > 0]
    return tuple(cause for _weight, cause in sorted(likely, key=lambda item: -item[0]))


def _window(slow: Slow, rtt_s: float) -> Alternative:
    """Return the window as the cause, which only a shorter RTT than TCP saw would rule out."""
    size = round(slow.present.window(rtt_s))
    text = _(
        "The window, or what clamps it: %(window)s in each RTT of %(rtt)s, the least that TCP saw, are this rate."
        " Only the shorter RTT of the probes would let it have more."
    )
    return Alternative(
        Message(text, {"window": format_quantity(size, "B"), "rtt": format_quantity(rtt_s, "s")}),
        Message(_("A larger window that is asked for has more. Trace the route of the probes and of TCP's packets.")),
        Proposal("iperf3-tcp", {"streams": "1"}, {"window": f"0 B, {canonical_text(LARGER * size, 'size')}"}),
    )


def _buffer_weight(evidence: Evidence, slow: Slow, window: float, law: LossLaw | None) -> float:
    """Return how likely a small buffer is: the cheapest cause, unless the receiver's kernel allows far more.

    Segments sent again speak against it as far as they explain the rate.
    """
    idle, loaded = slow.mean("min_rtt"), slow.mean("mean_rtt")
    if idle and loaded and (loaded >= STANDS * idle or slow.rate * loaded / 8 > THROUGH * window):
        # A buffer makes no queue, and no more goes through it in an RTT than it holds.
        return 0.0
    triple = sysctl.read_sysctls(evidence, evidence.receiver).get("net.ipv4.tcp_rmem", "").split()
    if len(triple) == 3 and int(triple[2]) > 4 * window:
        return 0.0
    if len(triple) == 3 and KERNEL_SHARE[0] * int(triple[2]) <= window <= KERNEL_SHARE[1] * int(triple[2]):
        return 6.0
    return 0.5 if (slow.retransmits or 0) >= LEAST_AGAIN and (law is None or law.word == EXPLAINS) else 3.0


def _loss_weight(evidence: Evidence, slow: Slow, law: LossLaw | None, rtt_s: float) -> float:
    """Return how likely random loss is, by segments sent again and by what UDP lost below the capacity."""
    if slow.retransmits is not None:
        if slow.retransmits < LEAST_AGAIN and not may_be_chance(slow.present, rtt_s):
            return 0.0
        return 0.5 if law is not None and law.word == REFUTED else 4.0
    loss = loss_leaving(slow.present, rtt_s)
    curve, _trials = estimates.loss_curve_of(evidence)
    losses = [point.loss for point in curve.arrivals if curve.whole and point.offered <= curve.whole] if curve else []
    if any(value >= loss / 3 for value in losses):
        return 4.0
    return 2.0
