"""Datagrams that are lost below the path's capacity: chance, and not a full link."""

from apps.bench.network.loads import QUIET
from apps.bench.network.loss_curve import THRESHOLD
from apps.bench.rules.base import DIAGNOSIS, Evidence, FindingDraft, Proposal
from apps.bench.rules.tcp import estimates, unlike
from apps.bench.rules.tcp.path import BELOW_LINKS, PathReading, read_path
from apps.bench.statistics import CONFIDENCE
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "path-loss", 6


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the share that is lost at loads that fill nothing, where it matters: to datagrams, or to one stream.

    None if it is nothing, is not known, or holds nothing that was measured.
    """
    path = read_path(evidence)
    loss = estimates.chance_of(evidence, path.capacity.value) if path else None
    if path is None or loss is None:
        return None
    chance, own, trials = loss
    left = unlike.left_by_datagrams(evidence)
    if left is None and own.low < THRESHOLD:
        return None
    params = {
        "share": f"{100 * own.share:.2g}",
        "low": f"{100 * own.low:.2g}",
        "high": f"{100 * own.high:.2g}",
        "lost": f"{own.lost:.0f}",
        "sent": f"{own.sent:.0f}",
        "confidence": f"{100 * CONFIDENCE:g}",
        "load": format_quantity(chance.loads[-1].offered, "bit/s"),
    }
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        title=Message(_("The path loses %(share)s %% of datagrams by chance"), params),
        why=(
            _far_below(evidence, path, params),
            Message(
                _("Lost were %(lost)s of %(sent)s datagrams: %(low)s to %(high)s %% (%(confidence)s %%)."), params
            ),
            *([left.message] if left else []),
            Message(_("A link that is full loses nothing below its capacity: errors, duplex or a policer do.")),
        ),
        value=100 * own.share,
        low=100 * own.low,
        high=100 * own.high,
        unit="%",
        formula=f"p = {own.lost:.0f} / {own.sent:.0f} = {own.share:.2g} at R <= {QUIET:g} · C",
        evidence=tuple(sorted({*trials, *path.trials})),
        confidence=0.75 if len(chance.loads) > 1 else 0.6,
        applies_when=Message(_("This path and direction.")),
        limits=(Message(_("Short runs count few losses: measure longer to be sure of a small share.")),),
        source="Mathis, Semke, Mahdavi, Ott (1997); RFC 7680; Wilson (1927)",
        missing=(Message(_("Which link it is: loss hop by hop, and the interfaces' counts of errors.")),),
        proposals=(Proposal("mtr"),),
    )


def _far_below(evidence: Evidence, path: PathReading, params: dict[str, str]) -> Message:
    """Return what the loads are far below: the path's capacity where that was shown, else what arrived at most."""
    curve, _trials = estimates.loss_curve_of(evidence)
    arrived = curve.arrived if curve else 0.0
    level = path.capacity.value
    text = _("Loads up to %(load)s, far below the %(capacity)s of the path, lost %(share)s %%.")
    is_held = curve is not None and bool(curve.plateau or curve.full) and arrived < BELOW_LINKS * level
    if path.capacity.is_lower_bound or is_held:
        level = arrived if is_held else max(arrived, level)
        text = _("Loads up to %(load)s, far below the %(capacity)s that arrived at most, lost %(share)s %%.")
    elif path.capacity.is_open:
        text = _(
            "Loads up to %(load)s, far below the %(capacity)s that the links are said to carry, lost %(share)s %%."
        )
    return Message(text, {**params, "capacity": format_quantity(level, "bit/s")})
