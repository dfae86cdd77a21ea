"""How several pairs of processes share what lies between two nodes."""

from collections.abc import Mapping

from apps.bench import statistics
from apps.bench.rules import shapes
from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, Evidence, FindingDraft, Trend
from apps.bench.rules.mpi import courses
from apps.bench.rules.mpi.circumstances import Said, Silent, circumstances_of, settled
from apps.bench.rules.mpi.fairness import EVEN, UNEVEN, Shares, shares_of
from apps.bench.rules.shapes import Curve
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "mpi-contention", 5
FACTOR, METRIC, SIZE = "pairs", "aggregate", "message_size"
# Of smaller messages (B) it is their number that ends, not what the port carries. The other is the tool's own.
LARGE, USUAL_SIZE = 64 * 1024, 1024**2
# A law is told where it is no further off than this share at any number of pairs.
OFF_LAW = 0.10

TEXTS = {
    shapes.FLAT: _("Pairs between two nodes (%(where)s) share their bandwidth evenly: each of N gets max / N"),
    shapes.SATURATES: _("From %(knee)s pairs on (%(where)s) the bandwidth is shared: each of N gets max / N"),
    shapes.RISES: _("Pairs between two nodes (%(where)s) do not fill what lies between them yet"),
    shapes.FALLS: _("Pairs between two nodes (%(where)s) lose to each other beyond %(knee)s of them"),
}
# Where a publication prints no number of pairs none is told.
UNNUMBERED = {
    shapes.SATURATES: _("More pairs between two nodes (%(where)s) share the bandwidth: each of N gets max / N"),
    shapes.FALLS: _("Pairs between two nodes (%(where)s) lose to each other the more of them there are"),
}
UNSHARED = {
    shapes.FLAT: _(
        "Pairs between two nodes (%(where)s) have the same together, however many; how they share it was not measured"
    ),
    shapes.SATURATES: _(
        "From %(knee)s pairs on (%(where)s) all together have the same; how they share it was not measured"
    ),
}
SMALL = {
    shapes.FLAT: _("Messages of %(size)s between two nodes (%(where)s) do not get more with more pairs: %(rate)s"),
    shapes.SATURATES: _("From %(knee)s pairs on (%(where)s) messages of %(size)s do not get more: %(rate)s"),
}


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return how the aggregate goes with the number of pairs that send at once."""
    for point in evidence.points:
        # Who does not know the size of the messages does not know what of the two they end at.
        if METRIC in point.metrics:
            point.parameters.get(SIZE)
    shaped = shapes.shaped(evidence, factor=FACTOR)
    trends = [(trend, curve) for trend, curve in shaped if trend.shape != shapes.UNCLEAR and _holds(trend, curve)]
    own = [(trend, curve) for trend, curve in trends if trend.metric == METRIC]
    read = {curve.trials for _trend, curve in own if curve}
    silent = [
        Silent(_place(curve, "", curve.tool), circumstances_of(curve))
        for curve in shapes.curves(evidence, factor=FACTOR)
        if curve.metric == METRIC and curve.trials not in read
    ]
    return settled([*(_said(trend, curve, evidence) for trend, curve in own), *silent])


def _holds(trend: Trend, curve: Curve | None) -> bool:
    return curve is None or trend.shape != shapes.RISES or courses.rises_throughout(curve)


def _said(trend: Trend, curve: Curve | None, evidence: Evidence) -> Said:
    place = _place(curve, str(trend.fixed.get("testbed", "")), trend.tool)
    shares = shares_of(curve, evidence) if curve else Shares(EVEN)
    size = trend.fixed.get(SIZE, USUAL_SIZE)
    is_small = curve is not None and bool(size) and size < LARGE and trend.shape in SMALL
    draft = _draft(trend, curve, place, shares, size if is_small else None)
    circumstances = circumstances_of(curve) if curve else dict(trend.fixed)
    apart = shares.how if shares.how in (EVEN, UNEVEN) else None
    return Said(draft, circumstances, (trend.shape, shares.how, is_small), curve, apart=apart)


def _place(curve: Curve | None, testbed: str, tool: str) -> str:
    nodes = curve.roles.get("node", ()) if curve else ()
    return (", ".join(nodes[:2]) or testbed or tool or "?")[:200]


def _draft(trend: Trend, curve: Curve | None, place: str, shares: Shares, small: int | None) -> FindingDraft:
    means: Mapping[int, float] = curve.means if curve else {}
    knee = courses.last_near_best(curve) if curve and trend.shape == shapes.FALLS else trend.knee
    params: dict[str, object] = {"where": place, **({"knee": f"{knee:g}"} if knee else {}), **shares.params}
    is_level = trend.shape in (shapes.FLAT, shapes.SATURATES)
    title = TEXTS[trend.shape] if knee else UNNUMBERED.get(trend.shape, TEXTS[trend.shape])
    if is_level and shares.how == UNEVEN:
        title = shares.title
    elif small and trend.best:
        params |= {"size": format_quantity(small, "B"), "rate": format_quantity(trend.best / small, "1/s")}
        title = SMALL[trend.shape]
    elif is_level and shares.how != EVEN:
        title = UNSHARED[trend.shape]
    is_law = is_level and shares.how == EVEN and not small
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=NO_CHANGE if is_level and shares.how != UNEVEN else DIAGNOSIS,
        subject=place,
        title=Message(title, params),
        why=(*_figures(means), *shares.reasons, *_law(trend, curve)),
        against=shares.against,
        value=trend.best,
        unit="B/s" if trend.best else "",
        formula="X_pair = max / N" if is_law else "X(N)",
        evidence=trend.trials,
        confidence=0.85 if len(trend.trials) > len(means) > 1 else 0.65,
        applies_when=Message(_("Messages as large as those measured; all pairs lie between the same two nodes."))
        if small
        else Message(_("Large messages; all pairs lie between the same two nodes.")),
        limits=(
            Message(_("Between many nodes the switches count, which two nodes do not show.")),
            *(shapes.unmeasured_before(knee, means) if trend.shape == shapes.SATURATES else ()),
        ),
        source="Network of the Tachyon systems (KISTI)",
        missing=(Message(_("What each pair has: the slowest one's bandwidth, or Jain's index, of each number.")),)
        if is_level and shares.how not in (EVEN, UNEVEN)
        else (),
    )


def _figures(means: Mapping[int, float]) -> list[Message]:
    if not means:
        return [Message(_("All pairs together have the same, whatever their number: so it is printed."))]
    figures = ", ".join(f"{pairs}: {format_quantity(value, 'B/s')}" for pairs, value in means.items())
    return [Message(_("All pairs together, by their number: %(figures)s."), {"figures": figures})]


def _law(trend: Trend, curve: Curve | None) -> list[Message]:
    """Return what each pair costs the others, where the law of it holds at every number of pairs."""
    if trend.shape != shapes.FALLS or curve is None:
        return []
    means = curve.means
    if len(means) < 3 or min(means) < 1 or min(means.values()) <= 0:
        return []
    laws = statistics.fit_scaling(list(means), list(means.values()))
    law = next((item for item in laws if item.k > 0), None)
    if law is None or any(abs(law.at(n) - x) > max(OFF_LAW * x, curve.chance_alone) for n, x in means.items()):
        return []
    return [Message(_("Each pair costs the others (Universal Scalability Law, k = %(k)s)."), {"k": f"{law.k:.2g}"})]
