"""What each step of distance between partners costs: switches between nodes, or NUMA steps within one (R23)."""

import dataclasses

from apps.bench.rules import shapes
from apps.bench.rules.base import NO_CHANGE, RECOMMENDATION, Evidence, FindingDraft, Proof, Ratio
from apps.bench.rules.mpi.choices import COSTS
from apps.bench.rules.shapes import Curve
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "mpi-distance", 2
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


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return, for each kind of distance and metric, what the farthest partners lose to the nearest."""
    drafts: dict[str, FindingDraft] = {}
    for curve in shapes.curves(evidence, factor=FACTOR):
        placement = str(curve.fixed.get(PLACEMENT, ""))
        # A distance of 0 is whichever came first.
        cells = {distance: cell for distance, cell in curve.cells.items() if distance}
        if placement not in CHANGES or curve.metric not in METRICS or len(cells) < 2 or curve.is_scattered:
            continue
        hop_curve = dataclasses.replace(curve, cells=cells)
        draft = _draft(hop_curve, placement)
        if draft:
            drafts.setdefault(draft.subject, draft)
    return list(drafts.values())


def _draft(curve: Curve, placement: str) -> FindingDraft | None:
    means = curve.means
    near, far = min(means), max(means)
    ratio = next((r for r in shapes.ratios_of(curve) if (r.of[FACTOR], r.to[FACTOR]) == (far, near)), None)
    if ratio is None:
        return None
    is_cost = curve.metric in COSTS
    straight = ratio if is_cost else shapes.inverse(ratio)
    matters = shapes.is_better(straight)
    if not matters and not shapes.is_equal(straight):
        return None
    step = (means[far] - means[near]) / (far - near)
    unit = "s" if is_cost else "B/s"
    nodes = placement == NODES
    params = {
        "metric": curve.metric,
        "near": near,
        "far": far,
        "ratio": f"{shapes.middle(straight):.2f}",
        "step": format_quantity(abs(step), unit),
    }
    text = _("Switches on the way between nodes (%(near)s or %(far)s) have no effect on %(metric)s")
    if not nodes:
        text = _("The distance of sockets within a node (%(near)s or %(far)s steps) has no effect on %(metric)s")
    compared = _("Each switch more between nodes costs %(step)s of %(metric)s")
    if not nodes:
        compared = _("Each step more between sockets costs %(step)s of %(metric)s")
    if matters:
        text = _("Each switch more between nodes costs %(step)s of %(metric)s: keep partners near each other")
        if not nodes:
            text = _("Each step more between sockets costs %(step)s of %(metric)s: keep partners near each other")
    figures = ", ".join(f"{distance}: {format_quantity(value, unit)}" for distance, value in means.items())
    fixed = {name: curve.fixed[name] for name in KEPT if name in curve.fixed}
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION if matters else NO_CHANGE,
        subject=" ".join((curve.tool, curve.metric, placement, *_nodes_of(curve)))[:200],
        title=Message(text, params),
        compared_title=Message(compared, params) if matters else None,
        why=(
            Message(_("Measured, by distance: %(figures)s."), {"figures": figures}),
            Message(_("The farthest against the nearest: ×%(ratio)s."), params),
        ),
        value=abs(step),
        unit=unit,
        formula=f"(X({far}) - X({near})) / ({far} - {near}) = {format_quantity(step, unit)}",
        evidence=curve.trials,
        change=CHANGES[placement] if matters else "",
        undo=UNDO[placement] if matters else "",
        present=means[far] if matters else None,
        predicted=means[near] if matters else None,
        predicted_unit=unit,
        confidence=_confidence(ratio),
        applies_when=Message(_("Partners by rank exchange most of the data, as neighbours of a grid do.")),
        limits=(
            Message(_("On idle switches: what others send over the same switches adds to it.")),
            Message(_("Between the nearest and the farthest it is taken to grow evenly.")),
        ),
        side_effects=(Message(_("A job that asks for near nodes waits longer until such are free.")),)
        if matters and nodes
        else (),
        source="Network of the Tachyon systems (KISTI); slurm.conf, topology/tree",
        proof=Proof(curve.tool, curve.metric, {**fixed, FACTOR: far}, {**fixed, FACTOR: near}) if matters else None,
    )


def _nodes_of(curve: Curve) -> tuple[str, ...]:
    return tuple(curve.roles.get("node", ())[:2])


def _confidence(ratio: Ratio) -> float:
    return 0.85 if len(ratio.trials) >= 6 else 0.6
