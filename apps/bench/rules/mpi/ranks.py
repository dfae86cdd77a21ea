"""What more processes gain a parallel program's I/O, and how little each of them then writes."""

from collections.abc import Mapping
from typing import NamedTuple

from apps.bench.npb import CLASSES
from apps.bench.rules import shapes
from apps.bench.rules.base import NO_CHANGE, RECOMMENDATION, Evidence, FindingDraft, Proof, Proposal, Trend
from apps.bench.rules.mpi import courses
from apps.bench.rules.mpi.circumstances import METRIC, Said, Silent, circumstances_of, settled
from apps.bench.rules.mpi.settings import COSTS, KEPT
from apps.bench.rules.shapes import Curve
from apps.bench.rules.shapes.names import canonical
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "mpi-ranks", 3
FACTOR, TOOL = "ranks", "btio"
METRICS = ("io_rate", "io_time")
POINT_BYTES = 40
# What more processes do: gain, nothing, gain up to a peak, or lose from the fewest on.
GAINS, NOTHING, PEAK, LOSES = "gains", "nothing", "peak", "loses"
TITLES = {
    GAINS: _("Class %(problem)s gains from more processes in its I/O: up to %(at)s of them"),
    NOTHING: _("Class %(problem)s gains nothing from more processes: its I/O is as fast with few"),
    PEAK: _(
        "Class %(problem)s has its best I/O with %(at)s processes, ×%(ratio)s of %(fewest)s; %(most)s have ×%(rest)s"
    ),
    LOSES: _("Class %(problem)s has its best I/O with as few as %(at)s processes; %(most)s have ×%(rest)s"),
}


class _Growth(NamedTuple):
    """What more processes do, and with how many the I/O is best (None where it is only printed)."""

    verdict: str
    at: int | None
    gain: float = 1.0
    rest: float = 1.0


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return for each class and file system whether more processes give more I/O."""
    sayings: list[Said | Silent] = []
    for trend, curve in _shaped(evidence):
        circumstances = {**(circumstances_of(curve) if curve else trend.fixed), METRIC: trend.metric}
        course = _course_of(trend, curve)
        if course is None:
            sayings.append(Silent(_subject(trend), circumstances))
            continue
        blocks = [facts.block_size_bytes for facts in evidence.file_systems.values() if facts.block_size_bytes]
        system = evidence.file_systems.get(trend.file_system)
        block = system.block_size_bytes if system else min(blocks, default=None)
        draft = _draft(trend, curve.means if curve else {}, course, block)
        sayings.append(Said(draft, circumstances, (course.verdict, course.at), curve))
    return settled(sayings)


def _shaped(evidence: Evidence) -> list[tuple[Trend, Curve | None]]:
    """Return the trends over the number of processes that are printed, and each measured curve that can be read."""
    shaped: list[tuple[Trend, Curve | None]] = [
        (trend, None) for trend in evidence.trends if canonical(trend.tool, trend.factor) == FACTOR
    ]
    for curve in shapes.curves(evidence, factor=FACTOR):
        is_held = bool(curve.held_values) and shapes.trend_of(curve) is None
        if min(curve.means.values()) > 0 and not is_held:
            trend = Trend(
                curve.tool,
                curve.metric,
                FACTOR,
                "",
                file_system=curve.file_system,
                fixed=curve.fixed,
                trials=curve.trials,
                apart=curve.apart,
            )
            shaped.append((trend, curve))
    return [(trend, curve) for trend, curve in shaped if trend.tool == TOOL and trend.metric in METRICS]


def _course_of(trend: Trend, curve: Curve | None) -> _Growth | None:
    """Return what more processes do at each number of them, None where that is not known well enough."""
    if curve is None:
        is_cost = trend.metric in COSTS
        gains = trend.shape in ((shapes.FALLS,) if is_cost else (shapes.RISES, shapes.SATURATES, shapes.UNCLEAR))
        return _Growth(GAINS if gains else NOTHING, None)
    if curve.is_scattered:
        return None
    fewest, most, best = min(curve.means), max(curve.means), courses.best_of(curve)
    gained = {count: courses.gain(curve, count, fewest) for count in curve.means if count != fewest}
    lost = courses.gain(curve, best, most) if best != most else None
    falls = lost is not None and shapes.is_better(lost)
    rest = 1 / shapes.middle(lost) if lost else 1.0
    own = gained.get(best)
    # Of several means the best and the worst differ by chance more often than two do.
    is_sure = max(curve.means.values()) - min(curve.means.values()) >= curve.chance
    if is_sure and own and shapes.is_better(own) and not shapes.is_equal(own):
        if falls:
            return _Growth(PEAK, best, shapes.middle(own), rest)
        at = courses.fewest_as_good(curve)
        return _Growth(GAINS, best if at == fewest else at, shapes.middle(own))
    if is_sure and best == fewest and falls:
        return _Growth(LOSES, fewest, 1.0, rest)
    if all(ratio is not None and shapes.is_equal(ratio) for ratio in gained.values()):
        return _Growth(NOTHING, None)
    return None


def _draft(trend: Trend, means: Mapping[int, float], course: _Growth, block: int | None) -> FindingDraft:
    problem = str(trend.fixed.get("problem", ""))
    about = CLASSES.get(problem)
    is_cost = trend.metric in COSTS
    fewest, most = min(means, default=None), max(means, default=None)
    params = {
        # Of two file systems one sentence would stand twice.
        "problem": " ".join([problem or "?", *([f"({trend.file_system})"] if trend.file_system else [])]),
        "at": course.at,
        "fewest": fewest,
        "most": most,
        "ratio": f"{course.gain:.2f}",
        "rest": f"{course.rest:.2f}",
    }
    text = TITLES[course.verdict]
    if course.verdict == GAINS and course.at is None:
        text = _("Class %(problem)s gains from more processes in its I/O")
    reasons = _figures(trend, means)
    if about and course.verdict != GAINS:
        max_ranks = most or about.most_ranks
        piece = about.edge**3 * POINT_BYTES // max_ranks
        sizes = {"most": max_ranks, "piece": format_quantity(piece, "B"), "block": format_quantity(block or 0, "B")}
        reason = _("With %(most)s processes each writes %(piece)s at a time.")
        if block and piece < block:
            reason = _("With %(most)s processes each writes %(piece)s at a time, less than a block of %(block)s.")
        reasons.append(Message(reason, sizes))
    fixed = {name: value for name, value in trend.fixed.items() if name in KEPT[TOOL] and name != FACTOR}
    # Against the fewest, or where these are the best against the most.
    now = most if course.at == fewest else fewest
    can_prove = course.at is not None and now != course.at
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=NO_CHANGE if course.verdict == NOTHING or not means else RECOMMENDATION,
        subject=_subject(trend),
        title=Message(text, {name: value for name, value in params.items() if value is not None}),
        why=tuple(reasons),
        value=float(course.at) if course.at else None,
        unit="count" if course.at else "",
        formula=f"{trend.metric}(N)",
        evidence=trend.trials,
        confidence=0.85 if len(trend.trials) > len(means) > 1 else 0.65,
        applies_when=Message(_("The numbers of processes are squares, and no more than the class has room for.")),
        limits=(Message(_("Class %(problem)s runs with at most %(most)s processes."), _room(problem)),)
        if about
        else (),
        source="BTIO on a Power 595 (KISTI); NPB 3.3, bt.f",
        present=means[now] if can_prove and not is_cost and now is not None else None,
        predicted=means[course.at] if can_prove and not is_cost and course.at is not None else None,
        predicted_unit="B/s",
        proposals=() if means else (Proposal(TOOL, fixed, {FACTOR: "4, 16, 64, 256"}, {}, trend.file_system),),
        proof=Proof(TOOL, trend.metric, {**fixed, FACTOR: now}, {**fixed, FACTOR: course.at}, trend.file_system)
        if can_prove
        else None,
    )


def _subject(trend: Trend) -> str:
    return " ".join(word for word in (f"BTIO {trend.fixed.get('problem', '')}", trend.file_system) if word)[:200]


def _figures(trend: Trend, means: Mapping[int, float]) -> list[Message]:
    if not means:
        return [Message(_("So it is printed; the figures are not."))]
    unit = "s" if trend.metric in COSTS else "B/s"
    figures = ", ".join(f"{count}: {format_quantity(value, unit)}" for count, value in means.items())
    return [Message(_("Measured, by number of processes: %(figures)s."), {"figures": figures})]


def _room(problem: str) -> dict[str, object]:
    return {"problem": problem, "most": CLASSES[problem].most_ranks}
