"""The layer that limits a file system, as a finding: the layers alone, side by side."""

from collections.abc import Sequence

from apps.bench.rules.base import (
    DIAGNOSIS,
    DISK,
    FILE_SYSTEM,
    NETWORK,
    Evidence,
    FindingDraft,
)
from apps.bench.rules.layers.beneath import Beneath
from apps.bench.rules.layers.fullness import BEYOND, FULL, FULL_NETWORK, ROOM, is_over
from apps.bench.rules.layers.gaps import ENOUGH, gaps
from apps.bench.rules.layers.order import MOST_DESCRIBED, MOST_NOT_IN_TURN, of_another_level, of_described, of_order
from apps.bench.rules.layers.swings import Swing
from apps.bench.rules.layers.tables import alternatives_of
from apps.bench.rules.layers.titles import say
from apps.bench.rules.layers.verdicts import ALIKE, Verdict
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent, percent_below

RULE, VERSION = "limiting-layer", 11
# No surer it is that the network holds what a cache may have given.
MOST_OF_CACHE = 0.5
# So sure it is at most where the layers were measured in several campaigns: what changed between them is not seen.
MOST_ELSEWHEN = 0.75
APPLIES = _("The layers were measured alone; one that was measured with more in parallel may give less with as much.")
SOURCE = "Global file system over a WAN (KISTI, PNU); RFC 5136, section 2.3"


def conclude(evidence: Evidence, verdict: Verdict) -> FindingDraft | None:
    """Return the finding of a verdict that names a layer; None while it is undecided."""
    if not verdict.layer:
        return None
    level, still = verdict.level, gaps(evidence, verdict)
    layers = [layer for layer in (verdict.network, verdict.disk) if layer and layer.layer != verdict.layer]
    # What the next narrowest layer would let through if this one gave way.
    rates = [layer.least if layer.times == 1 else layer.sure for layer in layers]
    if verdict.is_of_flows and verdict.network:
        rates.append(verdict.network.wide)
    ceiling = min(rates, default=0.0)
    predicted = ceiling if ceiling > level.value else None
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DIAGNOSIS,
        subject=verdict.question.subject[:200],
        title=say(verdict, evidence),
        why=tuple(_reasons(verdict)),
        against=tuple(against(verdict)),
        value=level.value,
        unit="B/s",
        low=level.interval[0] if level.interval else None,
        high=level.interval[1] if level.interval else None,
        formula=formula_of(verdict),
        evidence=verdict.trials,
        tried=level.value if predicted else None,
        predicted=predicted,
        predicted_unit="B/s",
        confidence=_confidence(verdict),
        applies_when=Message(APPLIES),
        limits=(
            Message(
                _(
                    "A network is named as the limit from %(network)s %% of what it carries on, disks from %(disks)s"
                    " %% of what they give, where chance does not explain it; below %(room)s %% either is ruled out."
                ),
                {"network": percent(FULL_NETWORK), "disks": percent(FULL), "room": percent(ROOM)},
            ),
        ),
        source=SOURCE,
        alternatives=alternatives_of(evidence, verdict),
        missing=tuple(message for message, _proposal in still),
        proposals=tuple(proposal for _message, proposal in still if proposal),
    )


def conclude_all(evidence: Evidence, verdicts: Sequence[Verdict]) -> list[FindingDraft]:
    """Return the findings of all verdicts that name a layer."""
    drafts = [conclude(evidence, verdict) for verdict in verdicts]
    return [draft for draft in drafts if draft]


def _reasons(verdict: Verdict) -> list[Message]:
    reasons = beneath(verdict)
    if verdict.high:
        text = _(
            "%(name)s gives %(low)s at times and %(high)s at others, over the same path and from the same disks."
        )
        params = {
            "name": verdict.question.facts.name,
            "low": _rate(verdict.level.value),
            "high": _rate(verdict.high.value),
        }
        reasons.append(Message(text, params))
    for other in verdict.others:
        if not other.is_cached:
            text = _("%(other)s over the same path gives %(rate)s, ×%(ratio)s.")
            ratio = other.level.value / verdict.level.value
            params = {"other": other.question.facts.name, "rate": _rate(other.level.value), "ratio": f"{ratio:.2f}"}
            reasons.append(Message(text, params))
    # Of a layer that gave less alone than went through it nobody knows what more of it would gain.
    is_over_any = any(is_over(verdict.level, layer) for layer in (verdict.network, verdict.disk) if layer)
    if verdict.layer == NETWORK and not is_over_any:
        reasons.append(Message(_("Faster disks, or more of them, would gain nothing.")))
    elif verdict.layer == DISK and not is_over_any:
        reasons.append(Message(_("A faster network would gain nothing.")))
    return reasons


_ALONE = {
    NETWORK: (
        _("The network alone carries %(beneath)s: this is %(share)s %% of it."),
        _("By its links the network carries %(beneath)s of TCP's data: this is %(share)s %% of it."),
    ),
    DISK: (
        _("The disks alone give %(beneath)s: this is %(share)s %% of it."),
        _("The disks are said to give %(beneath)s: this is %(share)s %% of it."),
    ),
}


# Of a layer that shows two levels the mean is what no run had.
_SWUNG = {
    NETWORK: _(
        "The network alone carried %(lower)s in some runs and %(upper)s in others: this is %(share)s %% of the one"
        " and %(less)s %% of the other, and which of them it had meanwhile is not known."
    ),
    DISK: _(
        "The disks alone gave %(lower)s in some runs and %(upper)s in others: this is %(share)s %% of the one and"
        " %(less)s %% of the other, and which of them they had meanwhile is not known."
    ),
}


# Evidence that contradicts the rate.
_LESS = {
    NETWORK: (
        _("The network alone carried only %(beneath)s, less than the %(rate)s that went through it."),
        _("The network is said to carry only %(beneath)s, less than the %(rate)s that went through it."),
    ),
    DISK: (
        _("The disks alone gave only %(beneath)s, less than the %(rate)s that went to them or came from them."),
        _("The disks are said to give only %(beneath)s, less than the %(rate)s that came from them."),
    ),
}


def beneath(verdict: Verdict) -> list[Message]:
    """Return what each layer gives alone, measured or as it is stated, and the rate's share of it."""
    layers = ((verdict.network, verdict.of_network), (verdict.disk, verdict.of_disk))
    return [
        _of_levels(layer, layer.swing, verdict.level.value)
        if layer.swing and not layer.is_stated
        else _share_of(layer, share)
        for layer, share in layers
        if layer is not None and share is not None and not is_over(verdict.level, layer)
    ]


def _of_levels(layer: Beneath, swing: Swing, value: float) -> Message:
    """Return a rate's shares of both levels of a layer."""
    params = {"lower": _rate(swing.lower), "upper": _rate(swing.upper)}
    params |= {"share": percent(value / layer.least), "less": percent(value / layer.most)}
    return Message(_SWUNG[layer.layer], params)


def _share_of(layer: Beneath, share: float) -> Message:
    """Return a rate's share of what a layer gives: where nobody measured that, how it came about."""
    full = FULL_NETWORK if layer.layer == NETWORK else FULL
    text = _ALONE[layer.layer][layer.is_stated]
    params = {"beneath": _rate(layer.value), "share": percent_below(share, full)}
    if layer.times > 1:
        text = _(
            "The network carries %(alone)s by one client alone, times %(times)s is %(beneath)s: this is %(share)s %%"
            " of it. With as many at once nobody measured it."
        )
        if layer.clients > 1:
            text = _(
                "The network carries %(alone)s at most by one client alone, and for %(times)s of them, added up,"
                " %(beneath)s: this is %(share)s %% of it. With as many at once nobody measured it."
            )
        params |= {"alone": _rate(layer.alone), "times": str(layer.times)}
    if layer.flows:
        text = _(
            "The network alone carries %(beneath)s over as many flows as it opens (%(flows)s): this is %(share)s %%"
            " of it. Over %(more)s flows it carries %(wide)s."
        )
        params |= {"flows": str(layer.flows), "more": str(layer.more_flows), "wide": _rate(layer.wide)}
    return Message(text, params)


_APART = _("%(layer)s was measured months before or after (%(day)s; this: %(own)s): nothing rests on it.")
_ELSEWHEN = _("%(layer)s was measured in another campaign (%(day)s) than this (%(own)s): it may have changed since.")


def against(verdict: Verdict) -> list[Message]:
    """Return what speaks against a verdict, or against the figures that it rests on."""
    own_day = verdict.level.when.day
    objections = [
        Message(_APART, {"layer": item.subject, "day": item.when.day, "own": own_day}) for item in verdict.apart
    ]
    objections += [
        Message(_ELSEWHEN, {"layer": item.subject, "day": item.when.day, "own": own_day})
        for item in verdict.elsewhen
        if item.when.day and own_day
    ]
    objections += [
        Message(
            _LESS[layer.layer][layer.is_stated], {"beneath": _rate(layer.most), "rate": _rate(verdict.level.value)}
        )
        for layer in (verdict.network, verdict.disk)
        if layer is not None and is_over(verdict.level, layer)
    ]
    network = verdict.network
    objections += of_another_level((verdict.network, verdict.disk))
    if verdict.layer == FILE_SYSTEM:
        objections += of_order(verdict.level, (verdict.network, verdict.disk)) + of_described(verdict.described)
    if network is not None and network.is_stated and 0 < network.alone < FULL * network.value:
        text = _(
            "TCP alone was only seen to move %(least)s of the %(beneath)s that the links carry: measure more streams."
        )
        objections.append(Message(text, {"least": _rate(network.alone), "beneath": _rate(network.value)}))
    other = {NETWORK: verdict.of_disk, DISK: verdict.of_network}.get(verdict.layer)
    if other is not None and FULL <= other <= BEYOND:
        text = _("The other layer is nearly as full (%(share)s %%): raising one alone gains little.")
        objections.append(Message(text, {"share": percent(other)}))
    if verdict.layer == FILE_SYSTEM and verdict.others and not verdict.faster:
        best = next((item for item in verdict.others if not item.is_cached), None)
        if best and best.level.value < (1 + ALIKE) * verdict.level.value:
            text = _("%(other)s is no faster over the same path: something that both share may be the limit.")
            objections.append(Message(text, {"other": best.question.facts.name}))
    for item in verdict.others:
        if item.is_cached:
            text = _("%(rate)s of %(other)s is more than its disks gave alone and was left out.")
            params = {"rate": _rate(item.level.value), "other": item.question.facts.name}
            objections.append(Message(text, params))
    return objections


def _confidence(verdict: Verdict) -> float:
    """Return how sure the verdict is: by what was measured rather than stated, repeated, and cross-checked."""
    beneath = [layer for layer in (verdict.network, verdict.disk) if layer]
    count = sum(not layer.is_stated and layer.times == 1 for layer in beneath)
    is_repeated = verdict.level.n >= ENOUGH
    confidence = 0.5 + 0.12 * count + 0.1 * is_repeated
    most = 0.95
    if verdict.layer == FILE_SYSTEM:
        confidence += 0.2 * bool(verdict.faster) + 0.08 * bool(verdict.high) - 0.1 * (not verdict.others)
        most = MOST_NOT_IN_TURN if verdict.not_in_turn else most
        most = MOST_DESCRIBED[len(verdict.described)] if verdict.described else most
    else:
        # A layer that is filled needs no other to be ruled out; it speaks for itself.
        confidence += 0.1
        most = MOST_OF_CACHE if verdict.is_over_disk else most
    return round(min(confidence, most, MOST_ELSEWHEN if verdict.elsewhen else most), 2)


def formula_of(verdict: Verdict) -> str:
    """Return the rate's share of each layer, with the figures."""
    parts = []
    for name, layer, share in (
        ("X / X_net", verdict.network, verdict.of_network),
        ("X / B_disk", verdict.disk, verdict.of_disk),
    ):
        if layer and share is not None:
            rates = [layer.value] if layer.least == layer.most else [layer.least, layer.most]
            shares = " | ".join(f"{verdict.level.value / rate:.2f}" for rate in rates)
            parts.append(f"{name} = {_rate(verdict.level.value)} / {' | '.join(map(_rate, rates))} = {shares}")
    return "; ".join(parts)


def _rate(value: float) -> str:
    return format_quantity(value, "B/s")
