"""A setting that was measured and had more than what other rules propose for the same path."""

from apps.bench.rules.base import Evidence, FindingDraft, Proof
from apps.bench.rules.tcp import programs
from apps.bench.rules.tcp.bdp import present_rate
from apps.bench.rules.tcp.present import is_plain, read_all
from apps.bench.rules.tcp.sweeps import MOST_SCATTER, confidence_of, scatter_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "tcp-best-setting", 1
# It had this much more than what is proposed.
BETTER = 1.05


def conclude(evidence: Evidence, lead: FindingDraft) -> FindingDraft | None:
    """Return the best setting measured, None unless it surely had more than what `lead` promises.

    What its ends held counts as well: it is said of what was measured here, not of the path.
    """
    if not lead.predicted or lead.predicted_unit != "bit/s":
        return None
    scatter = scatter_of(evidence)
    known = [
        item for item in read_all(evidence) if is_plain(item.point) and not item.point.parameters.get("congestion")
    ]
    item = max(known, key=lambda one: one.rate, default=None)
    if item is None or item.rate < BETTER * lead.predicted:
        return None
    rates = item.point.values("goodput")
    low, high = scatter.interval(rates)
    if low <= lead.predicted or scatter.share > MOST_SCATTER:
        # The best of several figures is above the others by chance now and then.
        return None
    window, streams = item.point.parameters.get("window") or 0, item.streams
    now, present = {"window": 0, "streams": 1}, present_rate(evidence)
    if not present or present >= low or (window, streams) == (0, 1):
        return None
    shown = {
        "setting": programs.words(window=window, streams=streams),
        "rate": format_quantity(item.rate, "bit/s"),
        "less": format_quantity(lead.predicted, "bit/s"),
        "n": len(rates),
    }
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        title=Message(_("Of all settings measured on this path %(setting)s had the most: %(rate)s"), shown),
        why=(Message(_("What else is proposed for it had %(less)s (n = %(n)s of the best)."), shown),),
        value=item.rate,
        unit="bit/s",
        formula=f"X({shown['setting']}) = {shown['rate']} > {shown['less']}",
        evidence=item.trials,
        change=programs.iperf3(window=window, streams=streams),
        undo=programs.iperf3(),
        present=present,
        predicted=item.rate,
        predicted_interval=(low, high),
        confidence=confidence_of((len(rates) > 1, 0.2), base=0.6),
        applies_when=Message(_("Programs that set their socket buffers and open several connections.")),
        source="RFC 6349, section 5.1",
        proof=Proof("iperf3-tcp", "goodput", now, {"window": window, "streams": streams}),
    )
