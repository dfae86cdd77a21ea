"""What each step of distance between partners costs: switches between nodes, or NUMA steps within one (R23)."""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from apps.bench.rules import shapes
from apps.bench.rules.base import DIAGNOSIS, NO_CHANGE, RECOMMENDATION, Evidence, FindingDraft, Proof, Ratio
from apps.bench.rules.mpi import courses
from apps.bench.rules.mpi.circumstances import Said, Silent, circumstances_of, settled
from apps.bench.rules.mpi.settings import COSTS
from apps.bench.rules.shapes import Curve
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "mpi-distance", 3
FACTOR, PLACEMENT = "distance", "placement"
NODES, SOCKETS = "other-node", "other-socket"
METRICS = ("latency", "bandwidth", "bandwidth_largest")
# What an A/B measurement keeps of the setting.
KEPT = ("benchmark", "message_size", "pairs", PLACEMENT)
CHANGES = {
    NODES: "# Slurm: nodes under one switch\nsbatch --switches=1@60\n# Open MPI: neighbours by rank on near nodes\n"
    "mpirun --map-by slot --hostfile NEAR_FIRST",
    SOCKETS: "mpirun --bind-to core --map-by numa",
}
UNDO = {NODES: "sbatch --switches=0", SOCKETS: "mpirun --bind-to none"}
# What distance does: nothing, as much with each step, more with distance but not by equal steps, or not what is seen.
NOTHING, EVENLY, UNEVENLY, UNEXPLAINED = "nothing", "evenly", "unevenly", "unexplained"
TITLES: Mapping[str, Mapping[str, str]] = {
    NODES: {
        NOTHING: _("Switches on the way between nodes (%(near)s or %(far)s) have no effect on %(metric)s"),
        EVENLY: _("Each switch more between nodes costs %(step)s of %(metric)s: keep partners near each other"),
        UNEVENLY: _(
            "More switches between nodes cost %(metric)s, not each as much (%(far)s: ×%(ratio)s): keep partners near"
        ),
        UNEXPLAINED: _(
            "The number of switches does not explain %(metric)s: %(worst)s are worse than %(far)s, look at the nodes"
        ),
    },
    SOCKETS: {
        NOTHING: _("The distance of sockets within a node (%(near)s or %(far)s steps) has no effect on %(metric)s"),
        EVENLY: _("Each step more between sockets costs %(step)s of %(metric)s: keep partners near each other"),
        UNEVENLY: _(
            "More steps between sockets cost %(metric)s, not each as much (%(far)s: ×%(ratio)s): keep partners near"
        ),
        UNEXPLAINED: _(
            "The steps between sockets do not explain %(metric)s: %(worst)s are worse than %(far)s, look at the cores"
        ),
    },
}
COMPARED: Mapping[str, Mapping[str, str]] = {
    NODES: {
        EVENLY: _("Each switch more between nodes costs %(step)s of %(metric)s"),
        UNEVENLY: _("More switches between nodes cost %(metric)s, not each as much (%(far)s: ×%(ratio)s)"),
    },
    SOCKETS: {
        EVENLY: _("Each step more between sockets costs %(step)s of %(metric)s"),
        UNEVENLY: _("More steps between sockets cost %(metric)s, not each as much (%(far)s: ×%(ratio)s)"),
    },
}


class _Course(NamedTuple):
    """What distance does at all points of a curve: `verdict`, the farthest against the nearest, and the worst."""

    verdict: str
    ratio: Ratio
    near: int
    far: int
    worst: int


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return, for each kind of distance and metric, what farther partners lose to the nearest."""
    sayings: list[Said | Silent] = []
    for curve in shapes.curves(evidence, factor=FACTOR):
        placement = str(curve.fixed.get(PLACEMENT, ""))
        # A distance of 0 is whichever came first.
        cells = {distance: cell for distance, cell in curve.cells.items() if distance}
        if placement not in CHANGES or curve.metric not in METRICS or len(cells) < 2:
            continue
        hop_curve = dataclasses.replace(curve, cells=cells)
        course = None if curve.is_scattered else _course_of(hop_curve)
        if course:
            sayings.append(
                Said(_draft(hop_curve, placement, course), circumstances_of(curve), course.verdict, hop_curve)
            )
        else:
            sayings.append(Silent(_subject(curve, placement), circumstances_of(curve)))
    return settled(sayings)


def _course_of(curve: Curve) -> _Course | None:
    """Return what distance does, None where too little is known."""
    means, is_cost = curve.means, curve.metric in COSTS
    near, far = min(means), max(means)
    worst = (max if is_cost else min)(means, key=lambda distance: means[distance])
    straight = courses.gain(curve, near, far)
    if straight is None:
        return None
    if worst != far and _is_surely_worst(curve, worst, far):
        # Nearer partners lack what farther ones have.
        return _Course(UNEXPLAINED, straight, near, far, worst)
    ratios = [courses.gain(curve, near, distance) for distance in means if distance != near]
    if all(ratio is not None and shapes.is_equal(ratio) for ratio in ratios):
        return _Course(NOTHING, straight, near, far, worst)
    is_steady = courses.rises_throughout(curve) if is_cost else courses.falls_throughout(curve)
    if not is_steady or not shapes.is_better(straight) or not courses.is_best(curve, near):
        return None
    return _Course(EVENLY if courses.is_straight(curve) else UNEVENLY, straight, near, far, worst)


def _is_surely_worst(curve: Curve, worst: int, far: int) -> bool:
    ratio = courses.gain(curve, far, worst)
    return ratio is not None and shapes.is_better(ratio)


def _draft(curve: Curve, placement: str, course: _Course) -> FindingDraft:
    means, near, far, verdict = curve.means, course.near, course.far, course.verdict
    matters = verdict in (EVENLY, UNEVENLY)
    is_step = verdict in (NOTHING, EVENLY)
    step = (means[far] - means[near]) / (far - near)
    unit = "s" if curve.metric in COSTS else "B/s"
    params = {
        "metric": curve.metric,
        "near": near,
        "far": far,
        "worst": course.worst,
        "ratio": f"{shapes.middle(course.ratio):.2f}",
        "step": format_quantity(abs(step), unit),
    }
    compared = COMPARED[placement].get(verdict)
    fixed = {name: curve.fixed[name] for name in KEPT if name in curve.fixed}
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION if matters else DIAGNOSIS if verdict == UNEXPLAINED else NO_CHANGE,
        subject=_subject(curve, placement),
        title=Message(TITLES[placement][verdict], params),
        compared_title=Message(compared, params) if compared else None,
        why=_reasons(curve, params, unit),
        value=abs(step) if is_step else shapes.middle(course.ratio),
        unit=unit if is_step else "1",
        formula=f"(X({far}) - X({near})) / ({far} - {near}) = {format_quantity(step, unit)}"
        if is_step
        else f"X({far}) / X({near})",
        evidence=curve.trials,
        change=CHANGES[placement] if matters else "",
        undo=UNDO[placement] if matters else "",
        present=means[far] if matters else None,
        predicted=means[near] if matters else None,
        predicted_unit=unit,
        confidence=_confidence(course.ratio),
        applies_when=Message(_("Partners by rank exchange most of the data, as neighbours of a grid do.")),
        limits=_limits(means),
        side_effects=(Message(_("A job that asks for near nodes waits longer until such are free.")),)
        if matters and placement == NODES
        else (),
        source="Network of the Tachyon systems (KISTI); slurm.conf, topology/tree",
        proof=Proof(curve.tool, curve.metric, {**fixed, FACTOR: far}, {**fixed, FACTOR: near}) if matters else None,
    )


def _reasons(curve: Curve, params: Mapping[str, object], unit: str) -> tuple[Message, ...]:
    figures = ", ".join(f"{distance}: {format_quantity(value, unit)}" for distance, value in curve.means.items())
    return (
        Message(_("Measured, by distance: %(figures)s."), {"figures": figures}),
        Message(_("The farthest against the nearest: ×%(ratio)s."), params),
    )


def _limits(means: Mapping[Any, float]) -> tuple[Message, ...]:
    idle = Message(_("On idle switches: what others send over the same switches adds to it."))
    if len(means) > 2:
        return (idle,)
    return (idle, Message(_("Between the nearest and the farthest it is taken to grow evenly.")))


def _subject(curve: Curve, placement: str) -> str:
    return " ".join((curve.tool, curve.metric, placement, *curve.roles.get("node", ())[:2]))[:200]


def _confidence(ratio: Ratio) -> float:
    return 0.85 if len(ratio.trials) >= 6 else 0.6
