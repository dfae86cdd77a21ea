"""The window refuted as the limit.

One stream with it filled the path, or several with one each, or ones as large as are to be asked for, had no more.
"""

from apps.bench.rules.base import Evidence
from apps.bench.rules.tcp.better import explicits
from apps.bench.rules.tcp.dips import level_above
from apps.bench.rules.tcp.path import PathReading
from apps.bench.rules.tcp.present import Present, is_automatic, read_all
from apps.bench.rules.tcp.scatter import mean
from apps.bench.rules.tcp.sweeps import SURELY, levels_of, scatter_of
from apps.bench.rules.tcp.verdict.case import FULL, GREW
from apps.bench.rules.told import rest_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

# So many times what the path holds are to be asked for; so many windows are named.
TWICE, MOST = 2, 4


def by_measurements(evidence: Evidence, path: PathReading, present: Present | None) -> Message | None:
    """Return what was measured that refutes the automatic window as the limit; None where nothing does.

    Who names the window as the limit and who advises a larger one read the same.
    """
    filled = _filled_at(evidence, path)
    if filled or present is None:
        return filled
    return shared_by_streams(evidence, present) or _no_more_asked(evidence, path, present)


def _no_more_asked(evidence: Evidence, path: PathReading, present: Present) -> Message | None:
    """Return that windows as large as the path holds, one of them twice that, had less than the automatic one.

    A processor that held them holds what is asked for as well. What the kernel granted less of is no such window.
    """
    if path.capacity.is_lower_bound or present.streams > 1:
        return None
    requests = [(granted_of(item), item) for item in explicits(evidence, present)]
    roomy = sorted(
        (pair for pair in requests if pair[0] >= path.most_bytes), key=lambda pair: pair[1].point.parameters["window"]
    )
    if not roomy or max(size for size, _item in roomy) < TWICE * path.most_bytes:
        return None
    if any(item.rate > present.rate for _size, item in roomy):
        return None
    text = _("Windows of %(windows)s had %(rates)s, no more than the kernel's own with %(rate)s.")
    params = {
        "windows": ", ".join(format_quantity(item.point.parameters["window"], "B") for _size, item in roomy[:MOST]),
        "rates": ", ".join(format_quantity(item.rate, "bit/s") for _size, item in roomy[:MOST]),
        "rate": format_quantity(present.rate, "bit/s"),
    }
    return Message(text, params)


def granted_of(item: Present) -> float:
    """Return the window (B) that was asked for, as far as the kernel granted it: it doubles what is asked."""
    asked, granted = float(item.point.parameters["window"]), item.mean("window_granted")
    return min(asked, granted / 2) if granted else asked


def _filled_at(evidence: Evidence, path: PathReading) -> Message | None:
    """Return that one stream with the automatic window surely had all of the path at one of its levels, too.

    What it had less at the other, or in a few runs, the window does not explain: it was the same.
    """
    if path.capacity.is_lower_bound:
        return None
    for item in read_all(evidence):
        own = item.point.values("goodput")
        upper = level_above(own) if is_automatic(item.point.parameters) else []
        if upper and mean(upper) >= FULL * path.ceiling_bps:
            text = _(
                "With the automatic window one stream had %(rate)s in %(count)s of %(all)s runs: what makes it dip in"
                " the others is not the window."
            )
            params = {"rate": format_quantity(mean(upper), "bit/s"), "count": len(upper), "all": len(own)}
            return Message(text, params)
    rates = [
        level.rate
        for item in levels_of(evidence).differences
        if is_automatic(item.parameters)
        for level in (item.told, item.other)
        if level.rate >= FULL * path.ceiling_bps
    ]
    if not rates:
        return None
    text = _(
        "One stream with the automatic window had %(rate)s of the same path: a larger window is not what it lacks."
    )
    return Message(text, {"rate": format_quantity(max(rates), "bit/s")})


def shared_by_streams(evidence: Evidence, present: Present) -> Message | None:
    """Return that several streams, each with a window of its own, had no more than one: then no window holds that.

    None where some of them surely had more together, whichever of those looked at it is, or very much more.
    """
    own, several = present.point.values("goodput"), _several(evidence, present)
    best = max(several, key=lambda item: item.rate, default=None)
    if present.streams > 1 or best is None or best.rate > GREW * present.rate:
        return None
    rates, looked = best.point.values("goodput"), len(several)
    if min(len(own), len(rates)) < 2 or scatter_of(evidence).is_less(own, rates, by=SURELY, looked=looked):
        return None
    text = _(
        "%(count)s streams with a window each had %(most)s together, no more than one (%(rate)s): what they share"
        " holds it, not the window."
    )
    params = {
        "count": best.streams,
        "most": format_quantity(best.rate, "bit/s"),
        "rate": format_quantity(present.rate, "bit/s"),
    }
    return Message(text, params)


def multiple_of(evidence: Evidence, present: Present) -> Present | None:
    """Return the best of several streams that surely have much more together than the present ones; None if none has.

    So much the program that receives them takes, and the disk beneath it.
    """
    own, several, scatter = present.point.values("goodput"), _several(evidence, present), scatter_of(evidence)
    more = [
        item
        for item in several
        if item.rate > GREW * present.rate
        and scatter.is_less(own, item.point.values("goodput"), by=SURELY, looked=len(several))
    ]
    return max(more, key=lambda item: item.rate, default=None)


def _several(evidence: Evidence, present: Present) -> list[Present]:
    """Return more streams than the present ones, alike in all else."""
    conditions = rest_of(present.point.parameters, "streams")
    return [
        item
        for item in read_all(evidence)
        if item.streams > present.streams and rest_of(item.point.parameters, "streams") == conditions
    ]
