"""How much the path holds, and so how large a window one stream needs (rule R1)."""

from apps.bench.rules.base import Evidence, FindingDraft
from apps.bench.rules.tcp.path import PathReading, read_path
from apps.bench.rules.tcp.sweeps import tcp_points
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "tcp-bdp", 1
# The least window fills the path only if nothing ever waits; twice as much rides out a queue's worth of delay.
MARGIN = 2
# The largest window without window scaling (RFC 7323).
UNSCALED = 65535


def wanted_window(path: PathReading) -> int:
    """Return the window (B) that one stream should have on the path: twice the BDP."""
    return MARGIN * path.bdp_bytes


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the path's BDP and the window it asks for; None without a sound RTT and capacity."""
    path = read_path(evidence)
    if path is None:
        return None
    bdp, window = path.bdp_bytes, wanted_window(path)
    why = [
        path.rtt.source,
        path.capacity.source,
        Message(
            _("A smaller window than %(bdp)s cannot fill the path; twice as much allows for a queue on the way."),
            {"bdp": format_quantity(bdp, "B")},
        ),
    ]
    present = present_rate(evidence)
    if present:
        text = _("With the kernel's automatic window one stream now reaches %(rate)s: a gain of ×%(gain)s at most.")
        gain = f"{max(path.ceiling_bps / present, 1):.2f}"
        why.append(Message(text, {"rate": format_quantity(present, "bit/s"), "gain": gain}))
    if window > UNSCALED:
        why.append(Message(_("It is more than 65,535 bytes, so both ends need window scaling (RFC 7323).")))
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        title=Message(
            _("The path holds %(bdp)s: give one stream a window of %(window)s"),
            {"bdp": format_quantity(bdp, "B"), "window": format_quantity(window, "B")},
        ),
        why=tuple(why),
        value=float(bdp),
        unit="B",
        low=float(bdp),
        high=float(window),
        formula=f"{path.bdp_formula}; W = {MARGIN} · BDP = {window:,} B",
        evidence=path.trials,
        predicted=path.ceiling_bps,
        predicted_interval=path.reachable_bps,
        confidence=path.trust,
        applies_when=Message(_("One TCP stream is to fill the path.")),
        limits=(
            Message(_("Without loss and with idle ends; cross traffic leaves less than the capacity.")),
            Message(
                _("A window beyond this gains nothing: the rest waits in the bottleneck's queue and adds delay.")
            ),
        ),
        source="RFC 6349, sections 3.2 and 3.3.1",
    )


def present_rate(evidence: Evidence) -> float | None:
    """Return the mean goodput (bit/s) of one stream with the automatic window, or None."""
    rates = [
        rate
        for point in tcp_points(evidence)
        if point.parameters["window"] == 0
        and point.parameters["streams"] == 1
        and point.parameters["direction"] == "forward"
        for rate in point.values("goodput")
    ]
    return sum(rates) / len(rates) if rates else None
