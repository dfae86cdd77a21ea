"""Runs that end while TCP still starts: of few RTTs, or of a rate that did not stay the same."""

import math

from apps.bench.rules import pace
from apps.bench.rules.base import Alternative, Evidence, Proposal
from apps.bench.rules.tcp.levels import duration_of
from apps.bench.rules.tcp.present import Present
from apps.bench.rules.tcp.round_trip import read_rtt
from apps.bench.rules.told import known_or_none
from apps.bench.text import Message, _
from apps.bench.units import canonical_text, format_quantity

# A window of some MB takes about 10 RTTs of slow start, and more to the next loss: of so many RTTs that is a fifth.
LEAST_RTTS = 50
# So many times as long is measured beside runs whose rate did not stay the same.
LONGER = 10


def said_of(item: Present, evidence: Evidence) -> Message | None:
    """Return that slow start may hold a rate; None where its runs were long enough, or nobody knows."""
    rtt, duration = read_rtt(evidence), duration_of(item.point)
    omitted = known_or_none(item.point.parameters, "omit") or 0.0
    params = {"rate": format_quantity(item.rate, "bit/s")}
    if rtt is not None and 0 < duration + omitted < LEAST_RTTS * rtt.longest:
        text = _(
            "The runs at %(rate)s ended after %(count)s RTTs: slow start is a large part of them, and may hold the"
            " rate. Measure for %(enough)s or longer."
        )
        count = f"{(duration + omitted) / rtt.longest:.0f}"
        return Message(text, params | {"count": count, "enough": format_quantity(2 * LEAST_RTTS * rtt.longest, "s")})
    if pace.NOT_STEADY in item.point.warnings:
        text = _(
            "The rate of the runs at %(rate)s did not stay the same: it may not have grown yet to what holds it. Omit"
            " more, or measure longer."
        )
        return Message(text, params)
    return None


def cause_of(item: Present, evidence: Evidence) -> Alternative | None:
    """Return slow start as what may hold a rate, with longer runs that tell; None where `said_of` says nothing."""
    rtt, duration = read_rtt(evidence), duration_of(item.point)
    if said_of(item, evidence) is None:
        return None
    longer = max(2 * LEAST_RTTS * rtt.longest if rtt else 0.0, LONGER * duration)
    lengths = sorted({math.ceil(seconds) for seconds in (duration, longer) if seconds})
    text = _("Slow start holds the rate, or what TCP does before it is steady: nothing else needs to limit it.")
    return Alternative(
        Message(text),
        Message(_("Measure the same for much longer, without the beginning: a rate that slow start held grows.")),
        Proposal(
            "iperf3-tcp",
            {
                "window": canonical_text(int(known_or_none(item.point.parameters, "window") or 0), "size"),
                "streams": str(item.streams),
            },
            {"duration": ", ".join(canonical_text(float(length), "duration") for length in lengths)},
        ),
    )
