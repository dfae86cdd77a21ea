"""What more processes gain a parallel program's I/O, and how little each of them then writes."""

from collections.abc import Mapping

from apps.bench.npb import CLASSES
from apps.bench.rules import shapes
from apps.bench.rules.base import NO_CHANGE, RECOMMENDATION, Evidence, FindingDraft, Proof, Proposal, Trend
from apps.bench.rules.mpi.choices import COSTS, KEPT
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "mpi-ranks", 2
FACTOR, TOOL = "ranks", "btio"
METRICS = ("io_rate", "io_time")
POINT_BYTES = 40


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return for each class and file system whether more processes give more I/O."""
    drafts: dict[str, FindingDraft] = {}
    for trend, curve in shapes.shaped(evidence, factor=FACTOR):
        if trend.tool == TOOL and trend.metric in METRICS:
            blocks = [facts.block_size_bytes for facts in evidence.file_systems.values() if facts.block_size_bytes]
            system = evidence.file_systems.get(trend.file_system)
            block = system.block_size_bytes if system else min(blocks, default=None)
            draft = _draft(trend, curve.means if curve else {}, block)
            drafts.setdefault(draft.subject, draft)
    return list(drafts.values())


def _draft(trend: Trend, means: Mapping[int, float], block: int | None) -> FindingDraft:
    problem = str(trend.fixed.get("problem", ""))
    about = CLASSES.get(problem)
    is_cost = trend.metric in COSTS
    gains = trend.shape in ((shapes.FALLS,) if is_cost else (shapes.RISES, shapes.SATURATES, shapes.UNCLEAR))
    better = min if is_cost else max
    best = better(means, key=lambda count: means[count]) if means else None
    at = int(trend.knee) if trend.shape == shapes.SATURATES and trend.knee else best
    params: dict[str, object] = {"problem": problem or "?", "at": at or "?"}
    text = _("Class %(problem)s gains nothing from more processes: its I/O is as fast with few")
    if gains:
        text = _("Class %(problem)s gains from more processes in its I/O: up to %(at)s of them")
        if not means:
            text = _("Class %(problem)s gains from more processes in its I/O")
    reasons = _figures(trend, means)
    if about and not gains:
        max_ranks = max(means, default=about.most_ranks)
        piece = about.edge**3 * POINT_BYTES // max_ranks
        sizes = {"most": max_ranks, "piece": format_quantity(piece, "B"), "block": format_quantity(block or 0, "B")}
        reason = _("With %(most)s processes each writes %(piece)s at a time.")
        if block and piece < block:
            reason = _("With %(most)s processes each writes %(piece)s at a time, less than a block of %(block)s.")
        reasons.append(Message(reason, sizes))
    fixed = {name: value for name, value in trend.fixed.items() if name in KEPT[TOOL] and name != FACTOR}
    min_ranks = min(means, default=None)
    can_prove = gains and min_ranks is not None and at is not None and at != min_ranks
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION if gains and means else NO_CHANGE,
        subject=" ".join(word for word in (f"BTIO {problem}", trend.file_system) if word)[:200],
        title=Message(text, params),
        why=tuple(reasons),
        value=float(at) if at else None,
        unit="count" if at else "",
        formula=f"{trend.metric}(N)",
        evidence=trend.trials,
        confidence=0.85 if len(trend.trials) > len(means) > 1 else 0.65,
        applies_when=Message(_("The numbers of processes are squares, and no more than the class has room for.")),
        limits=(Message(_("Class %(problem)s runs with at most %(most)s processes."), _room(problem)),)
        if about
        else (),
        source="BTIO on a Power 595 (KISTI); NPB 3.3, bt.f",
        present=means[min_ranks] if can_prove and not is_cost and min_ranks is not None else None,
        predicted=means[at] if can_prove and not is_cost and at is not None else None,
        predicted_unit="B/s",
        proposals=() if means else (Proposal(TOOL, fixed, {FACTOR: "4, 16, 64, 256"}, {}, trend.file_system),),
        proof=Proof(TOOL, trend.metric, {**fixed, FACTOR: min_ranks}, {**fixed, FACTOR: at}, trend.file_system)
        if can_prove
        else None,
    )


def _figures(trend: Trend, means: Mapping[int, float]) -> list[Message]:
    if not means:
        return [Message(_("So it is printed; the figures are not."))]
    unit = "s" if trend.metric in COSTS else "B/s"
    figures = ", ".join(f"{count}: {format_quantity(value, unit)}" for count, value in means.items())
    return [Message(_("Measured, by number of processes: %(figures)s."), {"figures": figures})]


def _room(problem: str) -> dict[str, object]:
    return {"problem": problem, "most": CLASSES[problem].most_ranks}
