"""The smallest number of parallel streams that gives nearly the best rate (rules R6 and R9)."""

import math

from apps.bench.rules.base import (
    NO_CHANGE,
    RECOMMENDATION,
    Alternative,
    Evidence,
    FindingDraft,
    Proof,
    Proposal,
)
from apps.bench.rules.tcp import growth
from apps.bench.rules.tcp.path import PathReading, read_path
from apps.bench.rules.tcp.sweeps import (
    Cell,
    Sweep,
    confidence_of,
    find_sweeps,
    is_tcp,
    predicted_interval,
    tcp_points,
)
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "tcp-streams", 1
WITHIN = 0.03
LEAST_COUNTS = 2
# The largest count tried needs no larger one beside it if it already fills this much of the path.
FULL = 0.95
# Streams that share so unevenly (Jain's index) harm each other.
FAIR = 0.95
# The most that iperf3 opens.
MOST = 128
HARM = _("More streams than needed take rate from other users of the path and gain nothing.")


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the smallest sufficient count of the best stream sweep, or the one that a publication prints.

    None if the rate still grows or scatters.
    """
    path = read_path(evidence)
    if path is not None and path.capacity.is_lower_bound:
        # That bound is the best of these very trials: no rate can be judged by it.
        path = None
    for sweep in _preferred(find_sweeps(tcp_points(evidence), "streams")):
        if len(sweep.cells) >= LEAST_COUNTS:
            return _smallest(sweep, path)
    return _printed(evidence, path)


def _preferred(sweeps: list[Sweep]) -> list[Sweep]:
    """Return the sweeps of most counts and trials first; of equals the automatic window's, then the smallest's."""
    return sorted(sweeps, key=lambda sweep: (-len(sweep.cells), -len(sweep.trials), sweep.fixed["window"]))


def _smallest(sweep: Sweep, path: PathReading | None) -> FindingDraft | None:
    enough, best, last = _enough(sweep), sweep.best, sweep.cells[-1]
    fills = path is not None and enough.rate.mean >= FULL * path.ceiling_bps
    if (enough is last and not fills) or any(cell.is_scattered for cell in (enough, best)):
        return None
    first = sweep.cells[0]
    window = format_quantity(sweep.fixed["window"], "B") if sweep.fixed["window"] else None
    if enough.value == 1:
        title = _("One stream is enough with the automatic window: %(rate)s")
        if window:
            title = _("One stream is enough with a window of %(window)s: %(rate)s")
    else:
        title = _("%(streams)s streams are enough with the automatic window: %(rate)s")
        if window:
            title = _("%(streams)s streams are enough with a window of %(window)s: %(rate)s")
    rate = format_quantity(enough.rate.mean, "bit/s")
    is_repeated = all(len(cell.rates) > 1 for cell in (enough, best))
    beyond = sum(cell.value > enough.value for cell in sweep.cells)
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=NO_CHANGE if enough.value == 1 else RECOMMENDATION,
        title=Message(title, {"streams": enough.value, "window": window, "rate": rate}),
        why=tuple(_reasons(sweep, enough, path)),
        value=float(enough.value),
        unit="count",
        low=float(max((cell.value + 1 for cell in sweep.cells if cell.value < enough.value), default=enough.value)),
        high=float(enough.value),
        formula=_formula(first, enough, best, path),
        evidence=sweep.trials,
        change=f"-P {enough.value}",
        present=first.rate.mean if first.value == 1 else None,
        predicted=enough.rate.mean,
        predicted_interval=predicted_interval(enough),
        confidence=confidence_of((is_repeated, 0.2), (beyond > 1, 0.15), (fills, 0.1), base=0.5),
        applies_when=Message(_("The application can open several connections, for example GridFTP's -p.")),
        limits=(
            Message(HARM),
            Message(_("Where the kernels' limits may be raised, a larger window does the same with one stream.")),
        ),
        source="RFC 6349, section 5.1",
        alternatives=() if enough.value == 1 else (_larger_window(),),
        proof=_proof(sweep, first, enough) if first.value == 1 and enough is not first else None,
    )


def _printed(evidence: Evidence, path: PathReading | None) -> FindingDraft | None:
    """Return the count from which a publication says that the rate grows no more; None if it grows to the end."""
    trend = growth.printed(evidence)
    if trend is None or not (trend.shape == growth.FLAT or (trend.shape == growth.SATURATES and trend.knee)):
        return None
    streams = 1 if trend.shape == growth.FLAT else round(trend.knee or 1)
    single = [
        point
        for point in evidence.points
        if is_tcp(point) and point.parameters.get("streams", 1) == 1 and point.values("goodput")
    ]
    rate = max((value for point in single for value in point.values("goodput")), default=None)
    text = _("Up to %(streams)s streams the rate grows in proportion, after that it is flat (as printed).")
    why = [Message(text, {"streams": streams})]
    formula = f"N = {streams}, the knee as printed"
    if streams == 1:
        why = [Message(_("More streams give no more than one (as printed)."))]
    elif path is not None and rate:
        text = _("%(ceiling)s of the path over %(rate)s of one stream would be %(expected)s streams.")
        shown = {"ceiling": format_quantity(path.ceiling_bps, "bit/s"), "rate": format_quantity(rate, "bit/s")}
        expected = math.ceil(path.ceiling_bps / rate)
        why.append(Message(text, {**shown, "expected": expected}))
        formula = f"{formula}; expected: N = {shown['ceiling']} / {shown['rate']} -> {expected}"
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
        why=tuple(why),
        value=float(streams),
        unit="count",
        formula=formula,
        evidence=tuple(sorted(trials)),
        change=f"-P {streams}",
        present=rate if streams > 1 else None,
        predicted=trend.best or (path.ceiling_bps if path and streams > 1 else None),
        confidence=0.6,
        applies_when=Message(_("The application can open several connections, for example GridFTP's -p.")),
        limits=(Message(_("Only the shape is printed: the figures behind it are not known.")), Message(HARM)),
        source="RFC 6349, section 5.1",
        alternatives=() if streams == 1 else (_larger_window(),),
        missing=(Message(_("The rates at each number of streams, repeated.")),),
        proposals=(Proposal("iperf3-tcp", {"window": "0"}, {"streams": _around(streams)}),),
        proof=Proof(
            "iperf3-tcp", "goodput", {"window": 0, "streams": 1}, {"window": 0, "streams": min(streams, MOST)}
        )
        if streams > 1
        else None,
    )


def _around(streams: int) -> str:
    return ", ".join(str(count) for count in sorted({1, max(2, streams // 2), max(4, streams), max(8, 2 * streams)}))


def _larger_window() -> Alternative:
    return Alternative(
        Message(_("Let one stream have a larger window, if the window is what limits it.")),
        Message(_("Sweep the window of one stream from a quarter of the BDP to four times it.")),
    )


def _proof(sweep: Sweep, now: Cell, then: Cell) -> Proof:
    fixed = {name: sweep.fixed[name] for name in ("window", "direction", "congestion") if name in sweep.fixed}
    return Proof("iperf3-tcp", "goodput", {**fixed, "streams": now.value}, {**fixed, "streams": then.value})


def _enough(sweep: Sweep) -> Cell:
    """Return the cell of the smallest count that is within 3 % of the best, on the mean or by its repetitions.

    Where these reach so far the difference is chance, and the smaller count does as well.
    """
    best = sweep.best
    least = (1 - WITHIN) * best.rate.mean
    return next(cell for cell in sweep.cells if max(cell.rates if len(cell.rates) > 1 else [cell.rate.mean]) >= least)


def _formula(first: Cell, enough: Cell, best: Cell, path: PathReading | None) -> str:
    least, most = (1 - WITHIN) * best.rate.mean, format_quantity(best.rate.mean, "bit/s")
    shown = f"N = {enough.value}, the least with X >= {1 - WITHIN:.2f} · {most} = {format_quantity(least, 'bit/s')}"
    if path is None or first.value != 1 or enough is first:
        return shown
    ceiling, single = path.ceiling_bps, first.rate.mean
    expected = math.ceil(ceiling / single)
    rates = f"{format_quantity(ceiling, 'bit/s')} / {format_quantity(single, 'bit/s')}"
    return f"{shown}; expected: N = path / one stream = {rates} -> {expected}"


def _reasons(sweep: Sweep, enough: Cell, path: PathReading | None) -> list[Message]:
    best, first = sweep.best, sweep.cells[0]
    text = _("%(rate)s at streams = %(streams)s is within 3 %% of the best, %(best)s at %(at)s.")
    if enough.rate.mean < (1 - WITHIN) * best.rate.mean:
        text = _("%(rate)s at streams = %(streams)s is no less than the best, %(best)s at %(at)s, but for chance.")
    reasons = [
        Message(
            text,
            {
                "streams": enough.value,
                "rate": format_quantity(enough.rate.mean, "bit/s"),
                "best": format_quantity(best.rate.mean, "bit/s"),
                "at": best.value,
            },
        )
    ]
    if enough is not first:
        text = _("At streams = %(streams)s it is %(rate)s: the gain is ×%(gain)s.")
        gain = f"{enough.rate.mean / first.rate.mean:.2f}"
        shown = {"streams": first.value, "rate": format_quantity(first.rate.mean, "bit/s"), "gain": gain}
        reasons.append(Message(text, shown))
    if path is not None:
        text = _("That is %(share)s %% of what TCP can have of the path, %(ceiling)s.")
        share = f"{100 * enough.rate.mean / path.ceiling_bps:.0f}"
        reasons.append(Message(text, {"share": share, "ceiling": format_quantity(path.ceiling_bps, "bit/s")}))
    last = sweep.cells[-1]
    fairness, retransmits = last.mean("fairness"), last.mean("retransmits")
    if last is not enough and fairness is not None and (fairness < FAIR or retransmits):
        text = _("At streams = %(streams)s they share unevenly (Jain %(fairness)s) or lose (%(lost)s retransmits).")
        shown = {"streams": last.value, "fairness": f"{fairness:.2f}", "lost": f"{retransmits or 0:.0f}"}
        reasons.append(Message(text, shown))
    return reasons
