"""Datagrams that are lost below the path's capacity: chance, and not a full link."""

from apps.bench.rules.base import DIAGNOSIS, Evidence, FindingDraft, Proposal
from apps.bench.rules.tcp import estimates
from apps.bench.rules.tcp.path import read_path
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "path-loss", 2
# Loads below this share of the capacity fill no queue.
QUIET = 0.7
# Less than this is what long paths always lose now and then.
LEAST = 5e-5
# Chance takes the same share of every load, within what counting few losses scatters.
ALIKE = 4
# More than this many times what arrived of a load shows that nothing held that load to it.
ABOVE = 1.1


def conclude(evidence: Evidence) -> FindingDraft | None:
    """Return the share that is lost at loads that fill nothing; None if it is nothing, or is not known."""
    path = read_path(evidence)
    curve, trials = estimates.loss_curve_of(evidence)
    if path is None or curve is None:
        return None
    # A limit on each flow drops what is above it, far below the capacity: above what arrived nothing is chance.
    arrived = min(path.capacity.value, curve.plateau or curve.full or curve.whole or path.capacity.value)
    quiet = [point for point in curve.points if point.offered <= QUIET * arrived and not point.is_held]
    if not quiet or min(point.loss for point in quiet) < LEAST:
        return None
    if max(point.loss for point in quiet) > ALIKE * min(point.loss for point in quiet):
        return None
    # Of one load a limit on the flow takes as much as chance does, unless another load brought more through.
    max_delivered = max(point.delivered for point in quiet)
    if len(quiet) == 1 and max(point.delivered for point in curve.points) < ABOVE * max_delivered:
        return None
    loss = sum(point.loss for point in quiet) / len(quiet)
    heaviest = max(quiet, key=lambda point: point.offered)
    params = {
        "share": f"{100 * loss:.2g}",
        "load": format_quantity(heaviest.offered, "bit/s"),
        "capacity": format_quantity(path.capacity.value, "bit/s"),
    }
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        title=Message(_("The path loses %(share)s %% of datagrams by chance"), params),
        why=(
            Message(_("Loads up to %(load)s, far below the %(capacity)s of the path, lost %(share)s %%."), params),
            Message(_("A link that is full loses nothing below its capacity: errors, duplex or a policer do.")),
        ),
        value=100 * loss,
        unit="%",
        formula=f"p = {loss:.2g} at R <= {QUIET:g} · C",
        evidence=tuple(sorted({*trials, *path.trials})),
        confidence=0.75 if len(quiet) > 1 else 0.6,
        applies_when=Message(_("This path and direction.")),
        limits=(Message(_("Short runs count few losses: measure longer to be sure of a small share.")),),
        source="Mathis, Semke, Mahdavi, Ott (1997); RFC 7680",
        missing=(Message(_("Which link it is: loss hop by hop, and the interfaces' counts of errors.")),),
        proposals=(Proposal("mtr"),),
    )
