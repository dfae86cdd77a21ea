"""Bundles of links (LACP, ECMP): one flow goes over one member, however many there are."""

from apps.bench.rules.base import Alternative, Evidence, Proposal
from apps.bench.text import Message, _

HOLDS_A_FLOW = Message(
    _(
        "A shaper or policer on the way that gives each flow so much (QoS), or a member of a bundle"
        " of links that carries the whole flow (LACP, ECMP)."
    )
)
SEVERAL = Proposal("iperf3-tcp", {"window": "0"}, {"streams": "1, 2, 4"})
# Of a link as described: what one flow gets of it may be a member's.
BUNDLE = Alternative(
    Message(_("The link is a bundle (LACP, ECMP), and one flow goes over one member of it.")),
    Message(_("Several streams of TCP together have more than one flow.")),
    SEVERAL,
)


def limits_of_one_flow(evidence: Evidence) -> tuple[Message, ...]:
    """Return that several flows may have more than was measured of the path with one; () where several were tried."""
    if has_several(evidence):
        return ()
    text = _(
        "Measured with one flow: of a bundle of links (LACP, ECMP) it has one member; several flows may have more."
    )
    return (Message(text),)


def has_several(evidence: Evidence) -> bool:
    """Return whether several flows were measured at once."""
    return any(
        (point.parameters.get("streams") or 1) > 1 and any(rate > 0 for rate in point.values("goodput"))
        for point in evidence.points
    )
