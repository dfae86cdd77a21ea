"""The window refuted as the limit: one stream with it filled the path, or several, each with its own, had no more."""

from apps.bench.rules.base import Evidence
from apps.bench.rules.tcp.dips import level_above
from apps.bench.rules.tcp.path import PathReading
from apps.bench.rules.tcp.present import Present, is_automatic, read_all
from apps.bench.rules.tcp.scatter import mean
from apps.bench.rules.tcp.sweeps import SURELY, levels_of, scatter_of
from apps.bench.rules.tcp.verdict.case import FULL, GREW
from apps.bench.rules.told import rest_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity


def by_measurements(evidence: Evidence, path: PathReading, present: Present | None) -> Message | None:
    """Return what was measured that refutes the automatic window as the limit; None where nothing does.

    Who names the window as the limit and who advises a larger one read the same.
    """
    return _filled_at(evidence, path) or (_shared_by_streams(evidence, present) if present else None)


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


def _shared_by_streams(evidence: Evidence, present: Present) -> Message | None:
    """Return that several streams, each with a window of its own, had no more than one: then no window holds that.

    None where some of them surely had more together, whichever of those looked at it is, or very much more.
    """
    own = present.point.values("goodput")
    conditions = rest_of(present.point.parameters, "streams")
    several = [
        item
        for item in read_all(evidence)
        if item.streams > present.streams and rest_of(item.point.parameters, "streams") == conditions
    ]
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
