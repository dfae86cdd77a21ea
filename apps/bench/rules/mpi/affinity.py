"""Whether partners in one socket are faster than those in two, so that processes want to be bound."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from apps.bench.rules import shapes
from apps.bench.rules.base import (
    DOUBT,
    NO_CHANGE,
    RECOMMENDATION,
    Evidence,
    FindingDraft,
    Point,
    Proof,
    Proposal,
    Ratio,
)
from apps.bench.rules.mpi.circumstances import METRIC, Said, Silent, circumstances_of, settled
from apps.bench.rules.mpi.settings import COSTS
from apps.bench.rules.shapes import nodes_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "mpi-affinity", 4
FACTOR, SAME, OTHER = "placement", "same-socket", "other-socket"
TESTBED = "testbed"
BANDWIDTHS = ("bandwidth", "bandwidth_largest")
LATENCY = "latency"
METRICS = (*BANDWIDTHS, LATENCY)
# From this ratio on binding is worth its trouble.
WORTH = 1.3
# A ratio is told if its interval is no wider than this factor; placement hardly matters if it ends below the other.
WIDEST, HARDLY = 1.35, 1.4
# What a ratio says: one socket is faster, two are, neither, or too little was measured.
ONE, TWO, FREE, UNKNOWN = "one", "two", "free", "unknown"
CHANGES = {
    ONE: "# Open MPI\nmpirun --bind-to core --map-by core\n"
    "# Slurm\nsrun --cpu-bind=cores --distribution=block:block\n"
    "# Intel MPI, MPICH\nmpiexec.hydra -bind-to core -map-by core",
    TWO: "# Open MPI\nmpirun --bind-to core --map-by socket\n"
    "# Slurm\nsrun --cpu-bind=cores --distribution=block:cyclic\n"
    "# Intel MPI, MPICH\nmpiexec.hydra -bind-to core -map-by socket",
}
UNDO = "mpirun --bind-to none"
TITLES = {
    ONE: _("On %(who)s partners in one socket are ×%(ratio)s as fast as in two: bind processes to cores"),
    TWO: _("On %(who)s partners in two sockets are ×%(ratio)s as fast as in one: bind processes, and spread them"),
    FREE: _(
        "On %(who)s partners in one socket and in two hardly differ (×%(ratio)s): placement inside a node is free for"
        " %(metric)s"
    ),
    UNKNOWN: _("On %(who)s too little was measured to tell whether placement matters (×%(ratio)s)"),
}
COMPARED = {
    ONE: _("On %(who)s partners in one socket are ×%(ratio)s as fast as in two"),
    TWO: _("On %(who)s partners in two sockets are ×%(ratio)s as fast as in one"),
}


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
    sayings: list[Said | Silent] = []
    for curve in shapes.curves(evidence, factor=FACTOR):
        if curve.metric in METRICS and {SAME, OTHER} <= curve.cells.keys():
            ratio = None if curve.is_scattered else _of_one_socket(shapes.ratios_of(curve))
            nodes = ", ".join(nodes_of(Point({}, {}, roles=curve.roles))[:2]) or "?"
            circumstances = {**circumstances_of(curve), METRIC: curve.metric}
            silent = Silent(nodes[:200], circumstances)
            sayings.append(_said(ratio, nodes, curve.means, circumstances)._replace(curve=curve) if ratio else silent)
    for ratio in evidence.ratios:
        own = _of_one_socket([ratio])
        if ratio.metric in METRICS and own and _verdict(own) != UNKNOWN:
            who = str(own.of.get(TESTBED, "")) or ratio.tool
            sayings.append(_said(own, who, {}, {**shapes.common(own), METRIC: ratio.metric}))
    drafts = [_with_unread(draft, sayings) for draft in settled(sayings)]
    subjects = {draft.subject for draft in drafts}
    related: dict[str, FindingDraft] = {}
    for pair in _pairs(evidence):
        for draft in _printed_drafts(pair):
            related.setdefault(draft.subject, draft)
    return [*drafts, *(draft for subject, draft in related.items() if subject not in subjects)]


def _with_unread(draft: FindingDraft, sayings: Sequence[Said | Silent]) -> FindingDraft:
    """Return what was measured of some nodes, with what was not of the same: of one metric the other says nothing."""
    own = {
        item.circumstances.get(METRIC)
        for item in sayings
        if isinstance(item, Said) and item.curve and item.draft.evidence and _is_of(draft, item)
    }
    if not own or {LATENCY} < own:
        return draft
    sides = {FACTOR: f"{SAME}, {OTHER}"}
    message, proposal = Message(_("The latency of both placements: small messages may differ.")), "osu-latency"
    if own == {LATENCY}:
        message = Message(_("The bandwidth of both placements: large messages may differ."))
        proposal = "osu-bandwidth"
    return replace(
        draft,
        missing=(*draft.missing, message),
        proposals=(*draft.proposals, Proposal(proposal, {}, sides)),
    )


def _is_of(draft: FindingDraft, said: Said) -> bool:
    """Return whether a finding is of the nodes that something was said of."""
    return draft.subject == said.draft.subject or draft.subject.startswith(f"{said.draft.subject}, ")


def _of_one_socket(ratios: Sequence[Ratio]) -> Ratio | None:
    """Return how many times as fast partners in one socket are as those in two, of whichever way it is given."""
    for ratio in ratios:
        sides = ratio.of.get(FACTOR), ratio.to.get(FACTOR)
        if sides in ((SAME, OTHER), (OTHER, SAME)):
            # Of times it is the inverse that tells how fast.
            return ratio if (sides[0] == SAME) != (ratio.metric in COSTS) else shapes.inverse(ratio)
    return None


def _verdict(ratio: Ratio) -> str:
    """Return what a ratio of one socket to two says, as far as it is known well enough to be told."""
    if math.isinf(ratio.high) or ratio.low <= 0:
        return ONE if ratio.low >= WORTH else UNKNOWN
    middle, is_narrow = shapes.middle(ratio), ratio.high <= WIDEST * ratio.low
    # How much it matters need not be known where it surely does.
    if middle >= WORTH and ratio.ends[0] > 1:
        return ONE if is_narrow or ratio.ends[0] >= WORTH or not ratio.trials else UNKNOWN
    if middle <= 1 / WORTH and ratio.ends[1] < 1:
        return TWO if is_narrow or ratio.ends[1] <= 1 / WORTH or not ratio.trials else UNKNOWN
    return FREE if ratio.low >= 1 / HARDLY and ratio.high <= HARDLY else UNKNOWN


def _said(ratio: Ratio, who: str, means: Mapping[Any, float], circumstances: Mapping[str, Any]) -> Said:
    """Return whether it matters on nodes of which both placements are known."""
    verdict = _verdict(ratio)
    straight = shapes.inverse(ratio) if verdict == TWO else ratio
    unit = "s" if ratio.metric in COSTS else "B/s"
    params = {"who": who, "ratio": f"{shapes.middle(straight):.2f}", "metric": ratio.metric}
    reasons = [Message(_("The ratio lies between %(low)s and %(high)s."), _bounds(straight, verdict))]
    if means:
        figures = {name: format_quantity(means[side], unit) for name, side in (("same", SAME), ("other", OTHER))}
        reasons.append(Message(_("%(same)s within a socket, %(other)s between two."), figures))
    if verdict == UNKNOWN:
        return Said(_unknown(who, ratio, params, reasons), circumstances, verdict, is_told=False)
    fixed = {
        name: item for name, item in shapes.common(ratio).items() if name in ("benchmark", "message_size", "pairs")
    }
    worse, better = (SAME, OTHER) if verdict == TWO else (OTHER, SAME)
    proof = Proof(ratio.tool, ratio.metric, {**fixed, FACTOR: worse}, {**fixed, FACTOR: better}) if means else None
    confidence = 0.7 if not means else 0.85 if len(ratio.trials) >= 6 else 0.65
    rates = (means[worse], means[better]) if means else (None, None)
    draft = _draft(who, TITLES[verdict], params, reasons, straight, verdict, confidence, proof, rates)
    if unit == "s":
        draft = replace(draft, formula=_formula_of_times(verdict), predicted_unit=unit)
    return Said(draft, circumstances, verdict)


def _unknown(nodes: str, ratio: Ratio, params: dict[str, str], reasons: Sequence[Message]) -> FindingDraft:
    """Return that too little was measured to tell, and what would."""
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        subject=nodes[:200],
        title=Message(TITLES[UNKNOWN], params),
        why=tuple(reasons),
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
    first = _draft(pair.of, text, params, [reason, bound], pair.same, ONE, 0.7, None, (None, None))
    text = _(
        "On %(other)s partners in one socket and in two differ ×%(ratio)s less than on %(who)s: it matters little"
    )
    second = _draft(pair.to, text, params, [reason], pair.same, FREE, 0.5, None, (None, None))
    return [first, second]


def _formula(verdict: str) -> str:
    """Return what is divided by what: the placement that is called the faster one by the other."""
    if verdict == TWO:
        return f"X(other socket) / X(same socket), from {WORTH:g} on it matters"
    return f"X(same socket) / X(other socket), from {WORTH:g} on it matters"


def _formula_of_times(verdict: str) -> str:
    """Return the same of times: the slower placement's by the faster one's."""
    if verdict == TWO:
        return f"t(same socket) / t(other socket), from {WORTH:g} on it matters"
    return f"t(other socket) / t(same socket), from {WORTH:g} on it matters"


def _draft(
    subject: str,
    text: str,
    params: dict[str, str],
    reasons: list[Message],
    ratio: Ratio,
    verdict: str,
    confidence: float,
    proof: Proof | None,
    rates: tuple[float | None, float | None],
) -> FindingDraft:
    present, predicted = rates
    matters = verdict in CHANGES
    missing = Message(_("Both placements on the same nodes: only their relation to other nodes is printed."))
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=RECOMMENDATION if matters else NO_CHANGE,
        subject=subject[:200],
        title=Message(text, params),
        compared_title=Message(COMPARED[verdict], params) if proof and matters else None,
        why=tuple(reasons),
        value=float(params["ratio"]),
        unit="1",
        formula=_formula(verdict),
        evidence=ratio.trials,
        change=CHANGES.get(verdict, ""),
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
    """Return the ratios between the same two testbeds of which both placements are printed, all else being equal."""
    sides: dict[tuple[str, str, str], dict[str, Ratio]] = {}
    for ratio in sorted(evidence.ratios, key=lambda item: repr((item.tool, item.metric, item.of, item.to, item.low))):
        placement = ratio.of.get(FACTOR)
        testbeds = str(ratio.of.get(TESTBED, "")), str(ratio.to.get(TESTBED, ""))
        is_same_place = placement in (SAME, OTHER) and placement == ratio.to.get(FACTOR)
        if ratio.metric in BANDWIDTHS and all(testbeds) and testbeds[0] != testbeds[1] and is_same_place:
            held = {name: value for name, value in shapes.common(ratio).items() if name != FACTOR}
            key = repr((ratio.tool, ratio.metric, sorted(held.items(), key=repr)))
            sides.setdefault((*testbeds, key), {}).setdefault(str(placement), ratio)
    return [
        Pair(of, to, ratios[SAME], ratios[OTHER])
        for (of, to, _key), ratios in sides.items()
        if SAME in ratios and OTHER in ratios
    ]


def _bounds(ratio: Ratio, verdict: str) -> dict[str, object]:
    """Return the interval that decides: that placement is free by the ratio alone, all else by all looked at."""
    low, high = (ratio.low, ratio.high) if verdict == FREE else ratio.ends
    return {"low": f"{low:.2f}", "high": "∞" if math.isinf(high) else f"{high:.2f}"}
