"""Figures of a file system that no layer beneath it gave alone: of a cache, or a layer gave more by then."""

from collections.abc import Sequence
from dataclasses import replace

from apps.bench.rules.base import DOUBT, NETWORK, Evidence, FindingDraft
from apps.bench.rules.layers.beneath import Beneath
from apps.bench.rules.layers.fullness import BEYOND, is_over
from apps.bench.rules.layers.gaps import again
from apps.bench.rules.layers.questions import Level
from apps.bench.rules.layers.verdicts import Verdict
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

RULE, VERSION = "cache-effect", 4
# How each program is told to pass by the client's cache, and to time its writes to their end.
SURE = {"iozone": "iozone -e -c -I", "fio": "fio --direct=1 --end_fsync=1", "ior": "ior -e --posix.odirect"}


def conclude(evidence: Evidence, verdict: Verdict) -> FindingDraft | None:
    """Return the doubt in rates above what the disks or the network give alone; None if there are none."""
    if not verdict.cached:
        return None
    level, question = max(verdict.cached, key=lambda item: item.value), verdict.question
    rate = format_quantity(level.value, "B/s")
    measured = _measured(verdict, level)
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        subject=question.subject[:200],
        title=Message(_TITLES[bool(measured)], {"rate": rate, "name": question.facts.name}),
        why=tuple(_reasons(verdict, level)),
        value=level.value,
        unit="B/s",
        formula=f"X > {BEYOND:g} · min(X_net, B_disk)",
        evidence=tuple(sorted({trial for item in verdict.cached for trial in item.trials} | set(verdict.trials))),
        change=SURE.get(level.point.tool, ""),
        confidence=0.85 if level.n > 1 else 0.7,
        applies_when=Message(_("The figure is to stand for the disks or the network, not for a cache.")),
        limits=(Message(_("A compressing or deduplicating file system may rightly give more than its disks.")),),
        source="IOzone documentation, file size; IOR user guide, effects of caching",
        missing=tuple(again(verdict, layer) for layer in measured),
    )


# What was measured may have been another at another time; what links are described to carry may not.
_TITLES = {
    False: _("%(rate)s of %(name)s is not believable: the layers beneath give less"),
    True: _(
        "%(rate)s of %(name)s is more than the layers beneath gave alone: of a cache, or they gave more meanwhile"
    ),
}


def _measured(verdict: Verdict, level: Level) -> list[Beneath]:
    """Return the layers that gave less when they were measured, [] where one is only described and carries less."""
    less = [layer for layer in (verdict.network, verdict.disk) if layer and is_over(level, layer)]
    return [] if any(layer.is_stated and layer.layer == NETWORK for layer in less) else less


def conclude_all(evidence: Evidence, verdicts: Sequence[Verdict]) -> list[FindingDraft]:
    """Return the doubts in the rates of all verdicts."""
    drafts = [conclude(evidence, verdict) for verdict in verdicts]
    return [draft for draft in drafts if draft]


def _reasons(verdict: Verdict, level: Level) -> list[Message]:
    reasons = []
    of_network, network = _("The network carries %(beneath)s alone; %(rate)s is ×%(ratio)s of that."), verdict.network
    if network and (network.is_stated or network.times > 1):
        of_network = _("By its links the network carries %(beneath)s; %(rate)s is ×%(ratio)s of that.")
        network = replace(network, value=max(network.value, network.links), swing=None)
    for text, layer in (
        (_("The disks beneath give %(beneath)s alone; %(rate)s is ×%(ratio)s of that."), verdict.disk),
        (of_network, network),
    ):
        if layer and is_over(level, layer):
            params = {
                "beneath": format_quantity(layer.most, "B/s"),
                "rate": format_quantity(level.value, "B/s"),
                "ratio": f"{level.value / layer.most:.2f}",
            }
            reasons.append(Message(text, params))
    text = _(
        "Use files of twice the memory of clients and servers or more, or direct I/O, and time the writes to"
        " their end."
    )
    return [*reasons, Message(text)]
