"""Which of the settings tried gives a parallel program's I/O the best rate, or that none does."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from apps.bench.rules import shapes
from apps.bench.rules.base import NO_CHANGE, RECOMMENDATION, Evidence, FindingDraft, Proof, Ratio, Trend
from apps.bench.rules.mpi import courses
from apps.bench.rules.mpi.circumstances import METRIC, Said, Silent, circumstances_of, settled
from apps.bench.rules.mpi.factors import CHOICES, UNCHOSEN, Choice, command_of, raw_of, value_of, values_of
from apps.bench.rules.mpi.settings import COSTS, KEPT
from apps.bench.rules.runner import Rule
from apps.bench.rules.shapes import Curve
from apps.bench.rules.shapes.names import canonical
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

VERSION = 3
TOOLS = ("btio", "ior", "imb", "mdtest")
METRICS = ("io_rate", "io_time", "write", "read", "bandwidth")


def _conclude(factor: str, evidence: Evidence) -> list[FindingDraft]:
    """Return the best value of a factor, or that it has no effect, by problem class and file system."""
    choice = CHOICES[factor]
    curves = [
        curve
        for curve in shapes.curves(evidence, factor=factor)
        if curve.tool in TOOLS
        and curve.metric in METRICS
        and min(figure for cell in curve.cells.values() for figure in cell.values()) > 0
    ]
    measured = [_of_curve(choice, factor, curve) for curve in curves]
    drafts = settled(measured)
    subjects = {said.draft.subject for said in measured if isinstance(said, Said)}
    printed = [said for said in _printed(choice, factor, evidence) if said.draft.subject not in subjects]
    return [*drafts, *settled(printed)]


RULES = tuple(Rule(choice.rule, VERSION, partial(_conclude, factor)) for factor, choice in CHOICES.items())


def _printed(choice: Choice, factor: str, evidence: Evidence) -> list[Said]:
    """Return what is printed of a factor: pairs of values of which the better is not the worse of another, trends."""
    pairs = [
        said
        for ratio in shapes.ratios(replace(evidence, points=()), factor=factor)
        if ratio.tool in TOOLS and ratio.metric in METRICS and (said := _compare(choice, factor, ratio))
    ]
    beaten = {(said.draft.subject, said.verdict[2]) for said in pairs if said.verdict[0]}
    best = [said for said in pairs if (said.draft.subject, said.verdict[1]) not in beaten or not said.verdict[0]]
    trends = [
        Said(draft, dict(trend.fixed), (draft.kind == RECOMMENDATION, draft.title.msgid, ""))
        for trend in evidence.trends
        if trend.tool in TOOLS and canonical(trend.tool, trend.factor) == factor and trend.metric in METRICS
        if (draft := _of_trend(choice, trend))
    ]
    both = [*best, *trends]
    # An effect is told before none.
    moving = {item.draft.subject for item in both if item.verdict[0]}
    return [item for item in both if item.verdict[0] or item.draft.subject not in moving]


def _of_curve(choice: Choice, factor: str, curve: Curve) -> Said | Silent:
    """Return which of all values that were tried is the best, and of which that is not known."""
    best = courses.best_of(curve)
    whom = _whom(curve.tool, dict(curve.fixed), curve.file_system)
    circumstances = {**circumstances_of(curve), METRIC: curve.metric}
    gains = {value: ratio for value in curve.means if value != best and (ratio := courses.gain(curve, best, value))}
    worse = [value for value, ratio in gains.items() if shapes.is_better(ratio)]
    is_equal = all(shapes.is_equal(ratio) for ratio in gains.values())
    # Of more than two the best and the worst differ by chance more often than two do.
    spread = max(curve.means.values()) - min(curve.means.values())
    if not is_equal and (not worse or (len(curve.means) > 2 and spread < curve.chance)):
        return Silent(whom[:200], circumstances)
    others = [value for value in curve.means if value != best] if is_equal else worse
    params = {"of": value_of(factor, {factor: best}), "to": values_of(factor, others), "whom": whom}
    # What there is where nobody chooses, else the next best.
    nearest = min(others, key=lambda value: (shapes.middle(gains[value]), repr(value)))
    now = UNCHOSEN[factor] if UNCHOSEN.get(factor) in others else nearest
    ratio = gains[now]
    reasons = [*_figures(factor, curve), _ratio_reason(ratio, len(curve.means), value_of(factor, {factor: now}))]
    unknown = [value for value in gains if value not in others]
    if unknown:
        text = _("Not told apart from it: %(values)s.")
        reasons.append(Message(text, {"values": values_of(factor, unknown)}))
    names = {name: value for name, value in curve.fixed.items() if name in KEPT.get(curve.tool, ())}
    proof = Proof(curve.tool, curve.metric, {**names, factor: now}, {**names, factor: best})
    sides = (f"X({params['of']})", f"X({value_of(factor, {factor: now})})")
    formula = " / ".join(sides[::-1] if curve.metric in COSTS else sides)
    draft = _draft(choice, params, ratio, reasons, formula, None if is_equal else (best, now), proof, curve.trials)
    return Said(draft, circumstances, (not is_equal, "" if is_equal else best, ""), curve)


def _figures(factor: str, curve: Curve) -> list[Message]:
    """Return the whole row of figures where more than two values were tried."""
    if len(curve.means) < 3:
        return []
    unit = "s" if curve.metric in COSTS else "B/s"
    figures = ", ".join(
        f"{value_of(factor, {factor: x})}: {format_quantity(y, unit)}" for x, y in curve.means.items()
    )
    return [Message(_("Measured, by %(factor)s: %(figures)s."), {"factor": factor, "figures": figures})]


def _ratio_reason(ratio: Ratio, count: int, to: str) -> Message:
    params = {"ratio": _interval(ratio), "metric": ratio.metric, "to": to}
    if count > 2:
        return Message(_("Against %(to)s the ratio is %(ratio)s (%(metric)s)."), params)
    return Message(_("The ratio of the two is %(ratio)s (%(metric)s)."), params)


def _compare(choice: Choice, factor: str, ratio: Ratio) -> Said | None:
    """Return what a printed ratio says."""
    straight = shapes.inverse(ratio) if shapes.middle(ratio) < 1 else ratio
    # Of times the smaller side is the better.
    best = shapes.inverse(straight) if ratio.metric in COSTS else straight
    is_equal = shapes.is_equal(straight)
    if not is_equal and not shapes.is_better(straight):
        return None
    whom = _whom(ratio.tool, shapes.common(ratio), str(shapes.common(ratio).get(shapes.FILE_SYSTEM, "")))
    params = {"of": value_of(factor, best.of), "to": value_of(factor, best.to), "whom": whom}
    reason = _ratio_reason(straight, 2, params["to"])
    if ratio.high == float("inf") or straight.high == float("inf"):
        reason = Message(_("One is better throughout; by how much is not printed."))
    sides = None if is_equal else (raw_of(factor, best.of), raw_of(factor, best.to))
    formula = f"X({params['of']}) / X({params['to']})"
    draft = _draft(choice, params, straight, [reason], formula, sides, None, ratio.trials)
    verdict = (not is_equal, "" if is_equal else params["of"], params["to"])
    return Said(draft, {**shapes.common(ratio), METRIC: ratio.metric}, verdict)


def _of_trend(choice: Choice, trend: Trend) -> FindingDraft | None:
    """Return what a printed trend says: no effect, or (of sizes) that the larger or smaller are better."""
    params = {"whom": _whom(trend.tool, trend.fixed, trend.file_system)}
    falls = trend.shape == shapes.FALLS
    if trend.shape == shapes.FLAT:
        text, kind = choice.equal, NO_CHANGE
        if "%(of)s" in text:
            return None
    elif choice is CHOICES[shapes.BLOCK] and trend.shape in (shapes.RISES, shapes.FALLS):
        kind = RECOMMENDATION
        text = _("Large file-system blocks are better than small ones for %(whom)s")
        if falls != (trend.metric in COSTS):
            text = _("Small file-system blocks are better than large ones for %(whom)s")
    else:
        return None
    return FindingDraft(
        rule=choice.rule,
        version=VERSION,
        kind=kind,
        subject=params["whom"][:200],
        title=Message(text, params),
        why=(Message(_("So it is printed; the figures are not.")),),
        formula=f"X({trend.factor})",
        evidence=trend.trials,
        confidence=0.65,
        applies_when=Message(choice.when),
        source="BTIO on a Power 595 (KISTI)",
    )


def _draft(
    choice: Choice,
    params: Mapping[str, str],
    ratio: Ratio,
    reasons: Sequence[Message],
    formula: str,
    sides: tuple[Any, Any] | None,
    proof: Proof | None,
    trials: tuple[int, ...],
) -> FindingDraft:
    """Return the finding; `ratio` is at least one, `sides` the better value and the other, None if they are equal."""
    return FindingDraft(
        rule=choice.rule,
        version=VERSION,
        kind=RECOMMENDATION if sides else NO_CHANGE,
        subject=params["whom"][:200],
        title=Message(choice.better if sides else choice.equal, params),
        compared_title=Message(_("%(of)s is better than %(to)s for %(whom)s"), params) if sides else None,
        why=tuple(reasons),
        value=shapes.middle(ratio),
        unit="1",
        low=shapes.decisive(ratio)[0],
        high=None if shapes.decisive(ratio)[1] == float("inf") else shapes.decisive(ratio)[1],
        formula=f"{formula} = {_interval(ratio)}",
        evidence=trials,
        change=command_of(choice, sides[0]) if sides else "",
        undo=command_of(choice, sides[1]) if sides else "",
        confidence=0.85 if len(trials) >= 6 else 0.65,
        applies_when=Message(choice.when),
        limits=(
            Message(
                _("For other numbers of ranks and other classes it may be otherwise: the pattern changes with them.")
            ),
        ),
        source="BTIO on a Power 595 (KISTI)",
        proof=proof if sides and choice.can_prove and trials else None,
    )


def _interval(ratio: Ratio) -> str:
    low, high = shapes.decisive(ratio)
    return f"{low:.2f}" if low == high else f"{low:.2f} - {'∞' if high == float('inf') else f'{high:.2f}'}"


def _whom(tool: str, fixed: object, file_system: str) -> str:
    parameters = fixed if isinstance(fixed, dict) else {}
    words = [tool.upper(), str(parameters.get("problem", "")), str(parameters.get("subtype", "")), file_system]
    ranks = f"-n {parameters['ranks']}" if parameters.get("ranks") else ""
    return " ".join(word for word in (*words, ranks) if word)
