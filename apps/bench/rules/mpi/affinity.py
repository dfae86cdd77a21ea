"""Whether partners in one socket are faster than those in two, so that processes want to be bound."""

import math
from typing import NamedTuple

from apps.bench.rules import shapes
from apps.bench.rules.base import DOUBT, NO_CHANGE, RECOMMENDATION, Evidence, FindingDraft, Point, Proof, Ratio
from apps.bench.rules.shapes import nodes_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "mpi-affinity", 2
FACTOR, SAME, OTHER = "placement", "same-socket", "other-socket"
TESTBED = "testbed"
METRICS = ("bandwidth", "bandwidth_largest")
# From this ratio on binding is worth its trouble.
WORTH = 1.3
# A ratio is told if its interval is no wider than this factor; placement hardly matters if it ends below the other.
WIDEST, HARDLY = 1.35, 1.4
CHANGE = (
    "# Open MPI\nmpirun --bind-to core --map-by core\n"
    "# Slurm\nsrun --cpu-bind=cores --distribution=block:block\n"
    "# Intel MPI, MPICH\nmpiexec.hydra -bind-to core -map-by core"
)
UNDO = "mpirun --bind-to none"


class Pair(NamedTuple):
    """Ratios of one testbed to another: of partners in one socket, and of partners in two."""

    of: str
    to: str
    same: Ratio
    other: Ratio

    @property
    def relative(self) -> float:
        """Return how many times more the placement matters on the one than on the other."""
        return shapes.middle(self.same) / shapes.middle(self.other)


def conclude(evidence: Evidence) -> list[FindingDraft]:
    """Return, for each set of nodes and each printed testbed, whether its placement matters."""
    drafts: dict[str, FindingDraft] = {}
    for metric in METRICS:
        for curve in shapes.curves(evidence, factor=FACTOR):
            if curve.metric != metric or not {SAME, OTHER} <= curve.cells.keys() or curve.is_scattered:
                continue
            for ratio in shapes.ratios_of(curve):
                if (ratio.of[FACTOR], ratio.to[FACTOR]) == (SAME, OTHER):
                    nodes = ", ".join(nodes_of(Point({}, {}, roles=curve.roles))[:2])
                    draft = _measured_draft(ratio, nodes or "?", curve.means[OTHER], curve.means[SAME])
                    drafts.setdefault(draft.subject, draft)
    for ratio in evidence.ratios:
        sides = ratio.of.get(FACTOR), ratio.to.get(FACTOR)
        if ratio.metric in METRICS and sides in ((SAME, OTHER), (OTHER, SAME)):
            straight = ratio if sides[0] == SAME else shapes.inverse(ratio)
            draft = _own(straight, str(straight.of.get(TESTBED, "")) or ratio.tool, None, None, 0.7)
            drafts.setdefault(draft.subject, draft)
    for pair in _pairs(evidence):
        for draft in _printed_drafts(pair):
            drafts.setdefault(draft.subject, draft)
    return list(drafts.values())


def _measured_draft(ratio: Ratio, nodes: str, other: float, same: float) -> FindingDraft:
    return _own(ratio, nodes, other, same, 0.85 if len(ratio.trials) >= 6 else 0.65)


def _own(ratio: Ratio, nodes: str, other: float | None, same: float | None, confidence: float) -> FindingDraft:
    """Return whether it matters on nodes of which both placements are known."""
    middle = shapes.middle(ratio)
    matters = middle >= WORTH and ratio.low > 1
    params = {"who": nodes, "ratio": f"{middle:.2f}"}
    if other and same and not _is_known(ratio, matters=matters):
        return _unknown(nodes, ratio, params)
    text = _(
        "On %(who)s partners in one socket and in two hardly differ (×%(ratio)s): placement inside a node is free"
    )
    if matters:
        text = _("On %(who)s partners in one socket are ×%(ratio)s as fast as in two: bind processes to cores")
    reasons = [Message(_("The ratio lies between %(low)s and %(high)s."), _bounds(ratio))]
    if other and same:
        figures = {"same": format_quantity(same, "B/s"), "other": format_quantity(other, "B/s")}
        reasons.append(Message(_("%(same)s within a socket, %(other)s between two."), figures))
    fixed = {
        key: value for key, value in shapes.common(ratio).items() if key in ("benchmark", "message_size", "pairs")
    }
    proof = Proof(ratio.tool, ratio.metric, {**fixed, FACTOR: OTHER}, {**fixed, FACTOR: SAME})
    return _draft(nodes, text, params, reasons, ratio, matters, confidence, proof if same else None, (other, same))


def _is_known(ratio: Ratio, *, matters: bool) -> bool:
    """Return whether a measured ratio is known well enough to be told, or to lie below what is worth the trouble."""
    return ratio.high <= WIDEST * ratio.low if matters else ratio.high <= HARDLY


def _unknown(nodes: str, ratio: Ratio, params: dict[str, str]) -> FindingDraft:
    """Return that too little was measured to tell, and what would."""
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        subject=nodes[:200],
        title=Message(_("On %(who)s too little was measured to tell whether placement matters (×%(ratio)s)"), params),
        why=(Message(_("The ratio lies between %(low)s and %(high)s."), _bounds(ratio)),),
        value=float(params["ratio"]),
        unit="1",
        formula=f"X(same socket) / X(other socket), from {WORTH:g} on it matters",
        evidence=ratio.trials,
        confidence=0.5,
        applies_when=Message(_("Processes of one node exchange much data, partners being neighbours by rank.")),
        source="Network of the Tachyon systems (KISTI)",
        missing=(Message(_("More repetitions of both placements, five or more of each.")),),
    )


def _printed_drafts(pair: Pair) -> list[FindingDraft]:
    """Return what two ratios between testbeds say of each of them: how they relate, not how large each is."""
    if pair.relative < 1 / WORTH:
        pair = Pair(pair.to, pair.of, shapes.inverse(pair.same), shapes.inverse(pair.other))
    if pair.relative < WORTH:
        return []
    params = {
        "who": pair.of,
        "other": pair.to,
        "ratio": f"{pair.relative:.2f}",
        "same": f"{shapes.middle(pair.same):g}",
        "between": f"{shapes.middle(pair.other):g}",
    }
    reason = Message(
        _("%(who)s is ×%(same)s as fast as %(other)s within a socket, and only ×%(between)s between two."), params
    )
    text = _("On %(who)s partners in one socket are at least ×%(ratio)s as fast as in two: bind processes to cores")
    bound = Message(_("On neither are partners in two sockets the faster ones, so the ratio is a lower bound."))
    first = _draft(pair.of, text, params, [reason, bound], pair.same, True, 0.7, None, (None, None))
    text = _(
        "On %(other)s partners in one socket and in two differ ×%(ratio)s less than on %(who)s: it matters little"
    )
    second = _draft(pair.to, text, params, [reason], pair.same, False, 0.5, None, (None, None))
    return [first, second]


def _draft(
    subject: str,
    text: str,
    params: dict[str, str],
    reasons: list[Message],
    ratio: Ratio,
    matters: bool,
    confidence: float,
    proof: Proof | None,
    rates: tuple[float | None, float | None],
) -> FindingDraft:
    present, predicted = rates
    missing = Message(_("Both placements on the same nodes: only their relation to other nodes is printed."))
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION if matters else NO_CHANGE,
        subject=subject[:200],
        title=Message(text, params),
        compared_title=Message(_("On %(who)s partners in one socket are ×%(ratio)s as fast as in two"), params)
        if proof
        else None,
        why=tuple(reasons),
        value=float(params["ratio"]),
        unit="1",
        formula=f"X(same socket) / X(other socket), from {WORTH:g} on it matters",
        evidence=ratio.trials,
        change=CHANGE if matters else "",
        undo=UNDO if matters else "",
        present=present if matters else None,
        predicted=predicted if matters else None,
        predicted_unit="B/s",
        confidence=confidence,
        applies_when=Message(_("Processes of one node exchange much data, partners being neighbours by rank.")),
        limits=(Message(_("Bound processes that share a socket share its memory bandwidth, too.")),),
        side_effects=(
            Message(_("Do not bind where several jobs share a node: they would be bound to the same cores.")),
        )
        if matters
        else (),
        source="Network of the Tachyon systems (KISTI)",
        missing=(missing,) if ratio.of.get(TESTBED) != ratio.to.get(TESTBED) else (),
        proof=proof if matters else None,
    )


def _pairs(evidence: Evidence) -> list[Pair]:
    """Return the ratios between the same two testbeds of which both placements are printed."""
    sides: dict[tuple[str, str], dict[str, Ratio]] = {}
    for ratio in evidence.ratios:
        placement = ratio.of.get(FACTOR)
        testbeds = str(ratio.of.get(TESTBED, "")), str(ratio.to.get(TESTBED, ""))
        if (
            ratio.metric in METRICS
            and all(testbeds)
            and testbeds[0] != testbeds[1]
            and placement == ratio.to.get(FACTOR)
        ):
            sides.setdefault(testbeds, {})[str(placement)] = ratio
    return [
        Pair(of, to, ratios[SAME], ratios[OTHER])
        for (of, to), ratios in sides.items()
        if SAME in ratios and OTHER in ratios
    ]


def _bounds(ratio: Ratio) -> dict[str, object]:
    return {"low": f"{ratio.low:.2f}", "high": "∞" if math.isinf(ratio.high) else f"{ratio.high:.2f}"}
