"""Datagrams that came out of order: TCP takes such segments for lost, sends them again and slows down."""

from dataclasses import dataclass

from apps.bench.rules.base import Alternative, Evidence, Proposal
from apps.bench.rules.readings import read_once
from apps.bench.rules.tcp import counted, estimates
from apps.bench.text import Message, _
from apps.bench.units import percent

METRIC = "out_of_order"


@dataclass(frozen=True)
class Order:
    """The largest share (0 to 1) of a load's datagrams that came out of order, and of how many at least."""

    share: float
    datagrams: float

    def explains(self, lost_share: float) -> bool | None:
        """Return whether so much sent again (0 to 1) may only have come late; None where too few would show it."""
        if self.share and self.share >= estimates.CLEAN * lost_share:
            return True
        return False if lost_share * self.datagrams >= estimates.LEAST_LOST else None


@read_once
def read_order(evidence: Evidence) -> Order | None:
    """Return in which order datagrams came on the way that is asked; None where nobody counted them."""
    shares, datagrams = [], 0.0
    for point in evidence.points:
        counts, offered = point.values(METRIC), estimates.offered_of(point)
        sent = counted.sent_in(point, offered) if counts and offered and evidence.is_of_way(point) else None
        if sent:
            shares.append(sum(counts) / len(counts) / sent)
            datagrams += sent * len(counts)
    return Order(min(1.0, max(shares)), datagrams) if shares else None


def alternative(order: Order, sender: str) -> Alternative:
    """Return reordering as the cause of what is sent again, and the kernel's setting that decides."""
    text = _("Segments come late, not never: %(share)s %% of datagrams came out of order, which TCP takes for loss.")
    return Alternative(
        Message(text, {"share": percent_of(order)}),
        Message(
            _(
                "Let TCP wait longer before it takes a segment for lost, and look whether it sends less again"
                " (TcpExtTCPDSACKRecv of nstat counts what was sent again in vain)."
            )
        ),
        Proposal(
            "iperf3-tcp",
            {"window": "0", "streams": "1"},
            {f"setting.{sender}.net.ipv4.tcp_reordering": "3, 127"},
        ),
    )


def uncounted() -> Alternative:
    """Return reordering as the cause of what is sent again, where nobody counted in which order datagrams come."""
    return Alternative(
        Message(
            _("Segments come late, not never, and TCP takes them for lost: nobody counted the order of datagrams.")
        ),
        Message(_("Measure UDP at half the rate: it counts what comes out of order apart from what is lost.")),
    )


def percent_of(order: Order) -> str:
    """Return the share as a sentence has it, without its sign."""
    return percent(order.share) if order.share >= 0.1 else f"{100 * order.share:.2g}"
