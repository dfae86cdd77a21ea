"""The number of streams that a publication prints, held against what one stream has and what the path holds."""

import math

from apps.bench.rules.base import (
    BELOW,
    DOUBT,
    NO_CHANGE,
    RECOMMENDATION,
    Alternative,
    Evidence,
    FindingDraft,
    Proof,
    Proposal,
    Trend,
)
from apps.bench.rules.tcp import growth, programs
from apps.bench.rules.tcp.path import PathReading
from apps.bench.rules.tcp.sweeps import is_tcp
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "tcp-streams", 9
# The most that iperf3 opens.
MOST = 128
# Streams that would have so many times what the path holds cannot all have what one has.
TOO_MANY = 2
HARM = _("More streams than needed take rate from other users of the path and gain nothing.")


def larger_window() -> Alternative:
    """Return the other remedy: a larger window for one stream."""
    return Alternative(
        Message(_("Let one stream have a larger window, if the window is what limits it.")),
        Message(_("Sweep the window of one stream from a quarter of the BDP to four times it.")),
    )


def conclude(evidence: Evidence, path: PathReading | None) -> FindingDraft | None:
    """Return the count from which a publication says that the rate grows no more; None if it grows to the end."""
    trend = growth.printed_trend(evidence)
    if trend is None or not (trend.shape == growth.FLAT or (trend.shape == growth.SATURATES and trend.knee)):
        return None
    streams = 1 if trend.shape == growth.FLAT else round(trend.knee or 1)
    single = [
        point
        for point in evidence.points
        if is_tcp(point) and point.parameters.get("streams", 1) == 1 and point.values("goodput")
    ]
    rate = max((value for point in single for value in point.values("goodput")), default=None)
    rates = [value for point in single if point.statistic != BELOW for value in point.values("goodput")]
    if path is not None and not path.capacity.is_lower_bound and rates and streams > 1:
        path_streams = path.ceiling_bps / min(rates)
        if streams > TOO_MANY * path_streams:
            return _contradicted(trend, streams, min(rates), path)
    text = _("Up to %(streams)s streams the rate grows in proportion, after that it is flat (as printed).")
    reasons = [Message(text, {"streams": streams})]
    formula = f"N = {streams}, the knee as printed"
    if streams == 1:
        reasons = [Message(_("More streams give no more than one (as printed)."))]
    elif path is not None and rate:
        text = _("%(ceiling)s of the path over %(rate)s of one stream would be %(expected)s streams.")
        params = {"ceiling": format_quantity(path.ceiling_bps, "bit/s"), "rate": format_quantity(rate, "bit/s")}
        expected = math.ceil(path.ceiling_bps / rate)
        reasons.append(Message(text, {**params, "expected": expected}))
        formula = f"{formula}; expected: N = {params['ceiling']} / {params['rate']} -> {expected}"
    trials = {
        *trend.trials,
        *(path.trials if path else ()),
        *(t for point in single for t in point.trials("goodput")),
    }
    title = _("About %(streams)s streams are enough: after that the rate is flat")
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=NO_CHANGE if streams == 1 else RECOMMENDATION,
        title=Message(_("More streams than one gain nothing") if streams == 1 else title, {"streams": streams}),
        why=tuple(reasons),
        value=float(streams),
        unit="count",
        formula=formula,
        evidence=tuple(sorted(trials)),
        change=programs.iperf3({"streams": streams}) if streams > 1 else "",
        undo=programs.iperf3() if streams > 1 else "",
        present=rate if streams > 1 else None,
        # What the path would carry so many streams need not have: of a gain only what was measured tells.
        predicted=trend.best,
        predicted_unit="bit/s",
        confidence=0.6,
        applies_when=Message(_("The application can open several connections, for example GridFTP's -p.")),
        limits=(Message(_("Only the shape is printed: the figures behind it are not known.")), Message(HARM)),
        source="RFC 6349, section 5.1",
        alternatives=() if streams == 1 else (larger_window(),),
        missing=(Message(_("The rates at each number of streams, repeated.")),),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"streams": _around(streams)}),),
        proof=Proof(
            "iperf3-tcp", "goodput", {"window": 0, "streams": 1}, {"window": 0, "streams": min(streams, MOST)}
        )
        if streams > 1
        else None,
    )


def _contradicted(trend: Trend, streams: int, single: float, path: PathReading) -> FindingDraft:
    """Return that what is printed of many streams cannot be, by what one of them has and by what the path holds."""
    expected = math.ceil(path.ceiling_bps / single)
    params = {
        "streams": streams,
        "rate": format_quantity(single, "bit/s"),
        "ceiling": format_quantity(path.ceiling_bps, "bit/s"),
        "expected": expected,
    }
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        title=Message(
            _("That the rate grows in proportion up to %(streams)s streams is contradicted: one has %(rate)s"), params
        ),
        why=(
            path.capacity.source,
            Message(_("Of the %(ceiling)s that TCP can have %(expected)s such streams have all."), params),
        ),
        against=(Message(_("Printed: in proportion up to %(streams)s streams."), params),),
        formula=f"N = {params['ceiling']} / {params['rate']} = {params['expected']} < {streams}",
        evidence=tuple(sorted({*trend.trials, *path.trials})),
        confidence=0.7,
        applies_when=Message(_("This path, as it was measured.")),
        source="RFC 6349, section 5.1",
        missing=(Message(_("The rates at each number of streams, repeated.")),),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"streams": _around(expected)}),),
    )


def _around(streams: int) -> str:
    return ", ".join(str(count) for count in sorted({1, max(2, streams // 2), max(4, streams), max(8, 2 * streams)}))
