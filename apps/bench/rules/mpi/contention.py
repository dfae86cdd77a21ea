"""How several pairs of processes share what lies between two nodes."""

from collections.abc import Mapping, Sequence

from apps.bench import statistics
from apps.bench.rules import shapes
from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, Evidence, FindingDraft, Trend
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "mpi-contention", 3
FACTOR, METRIC = "pairs", "aggregate"
# Pairs share evenly from this value of Jain's index on.
FAIR = 0.95


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return how the aggregate goes with the number of pairs that send at once."""
    fairness = [curve for curve in shapes.curves(evidence, factor=FACTOR) if curve.metric == "fairness"]
    drafts: dict[str, FindingDraft] = {}
    for trend, curve in shapes.shaped(evidence, factor=FACTOR):
        if trend.metric != METRIC or trend.shape == shapes.UNCLEAR:
            continue
        nodes = curve.roles.get("node", ()) if curve else ()
        place = ", ".join(nodes[:2]) or str(trend.fixed.get("testbed", "")) or trend.tool or "?"
        draft = _draft(trend, curve.means if curve else {}, place, _fairness(fairness, trend))
        drafts.setdefault(draft.subject, draft)
    return list(drafts.values())


def _draft(trend: Trend, means: Mapping[int, float], place: str, fairness: float | None) -> FindingDraft:
    is_unfair = fairness is not None and fairness < FAIR
    params: dict[str, object] = {"where": place, **({"knee": f"{trend.knee:g}"} if trend.knee else {})}
    texts = {
        shapes.FLAT: _("Pairs between two nodes (%(where)s) share their bandwidth evenly: each of N gets max / N"),
        shapes.SATURATES: _("From %(knee)s pairs on (%(where)s) the bandwidth is shared: each of N gets max / N"),
        shapes.RISES: _("Pairs between two nodes (%(where)s) do not fill what lies between them yet"),
        shapes.FALLS: _("Pairs between two nodes (%(where)s) lose to each other beyond %(knee)s of them"),
    }
    # Where a publication prints no number of pairs none is told.
    unnumbered = {
        shapes.SATURATES: _("More pairs between two nodes (%(where)s) share the bandwidth: each of N gets max / N"),
        shapes.FALLS: _("Pairs between two nodes (%(where)s) lose to each other the more of them there are"),
    }
    title = texts[trend.shape] if trend.knee else unnumbered.get(trend.shape, texts[trend.shape])
    reasons = []
    if means:
        figures = ", ".join(f"{pairs}: {format_quantity(value, 'B/s')}" for pairs, value in means.items())
        reasons.append(Message(_("All pairs together, by their number: %(figures)s."), {"figures": figures}))
    else:
        reasons.append(Message(_("All pairs together have the same, whatever their number: so it is printed.")))
    if fairness is not None:
        text = _("Jain's index of their shares is %(fairness)s: they share evenly.")
        if is_unfair:
            text = _("Jain's index of their shares is %(fairness)s: some get much less than others.")
        reasons.append(Message(text, {"fairness": f"{fairness:.2f}"}))
    laws = (
        statistics.fit_scaling(list(means), list(means.values()))
        if len(means) > 2 and min(means) >= 1 and min(means.values()) > 0
        else ()
    )
    law = next((item for item in laws if item.k > 0), None)
    if trend.shape == shapes.FALLS and law:
        reasons.append(
            Message(_("Each pair costs the others (Universal Scalability Law, k = %(k)s)."), {"k": f"{law.k:.2g}"})
        )
    is_fair = trend.shape in (shapes.FLAT, shapes.SATURATES) and not is_unfair
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=NO_CHANGE if is_fair else DIAGNOSIS,
        subject=place[:200],
        title=Message(title, params),
        why=tuple(reasons),
        value=trend.best,
        unit="B/s" if trend.best else "",
        formula="X_pair = max / N",
        evidence=trend.trials,
        confidence=0.85 if len(trend.trials) > len(means) > 1 else 0.65,
        applies_when=Message(_("Large messages; all pairs lie between the same two nodes.")),
        limits=(Message(_("Between many nodes the switches count, which two nodes do not show.")),),
        source="Network of the Tachyon systems (KISTI)",
    )


def _fairness(curves: Sequence[shapes.Curve], trend: Trend) -> float | None:
    """Return the mean fairness at the largest number of pairs of the same trials."""
    own = set(trend.trials)
    own_curves = [curve for curve in curves if own & set(curve.trials)]
    return next((curve.means[max(curve.means)] for curve in own_curves), None)
