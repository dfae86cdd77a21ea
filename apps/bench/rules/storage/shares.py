"""The share of its disks' rate that a file system leaves: what it and its protocol cost."""

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple

from apps.bench.rules import shapes
from apps.bench.rules.base import DIAGNOSIS, DISK, DOUBT, NO_CHANGE, Evidence, FindingDraft, Ratio
from apps.bench.rules.layers.beneath import Beneath
from apps.bench.rules.layers.disks import LOCAL
from apps.bench.rules.layers.fullness import FULL, ROOM, is_alike, is_over
from apps.bench.rules.layers.gaps import again
from apps.bench.rules.layers.links import stated_rate
from apps.bench.rules.layers.order import MOST_NOT_IN_TURN, not_in_turn, of_another_level, of_order
from apps.bench.rules.layers.questions import FILE_SYSTEM, Level, of_layer
from apps.bench.rules.layers.verdicts import Verdict
from apps.bench.rules.shapes import nodes_of
from apps.bench.rules.storage.common import METRICS, rate
from apps.bench.text import Message, _
from apps.bench.units import percent

RULE, VERSION = "storage-share-of-disk", 7
# A share above this is a cache's (see the rule of those).
MOST = 1.05
# One that is not known to within this part of itself is not told: from 1 on its interval reaches down to nothing.
MOST_ERROR = 0.5
# A share that is printed in whole per cent is compared in such.
DIGITS = 3


class _Share(NamedTuple):
    """The share of the disks' rate (a ratio) with its 95 % interval; `of_both` if of what the network lets through.

    That is less than the disks give.
    """

    middle: float
    low: float
    high: float
    of_both: bool = False


def conclude(evidence: Evidence, verdicts: Sequence[Verdict]) -> list[FindingDraft]:
    """Return each file system's share of the local one beneath it, printed or measured where the network has room."""
    drafts: dict[str, FindingDraft] = {}
    # Points of the two are of different layers: only a publication sets them in relation by itself.
    for ratio in shapes.ratios(dataclasses.replace(evidence, points=()), factor=shapes.FILE_SYSTEM):
        draft = _printed_draft(evidence, ratio)
        if draft:
            drafts.setdefault(draft.subject, draft)
    for verdict in verdicts:
        draft = _measured_draft(verdict)
        if draft:
            drafts.setdefault(draft.subject, draft)
    return list(drafts.values())


def _printed_draft(evidence: Evidence, ratio: Ratio) -> FindingDraft | None:
    name, below = str(ratio.of[shapes.FILE_SYSTEM]), str(ratio.to[shapes.FILE_SYSTEM])
    if _is_local(evidence, name):
        ratio, name, below = shapes.inverse(ratio), below, name
    is_over = _is_local(evidence, below) and not _is_local(evidence, name)
    if not is_over or ratio.metric not in METRICS or ratio.high > MOST or math.isinf(ratio.high):
        return None
    facts, disk = evidence.file_systems.get(name), _disk_rate(evidence, below, ratio.metric)
    reasons: list[Message] = []
    # Where both rates are known the network is told, too: a full one would be the reason for the share.
    points = [p for p in of_layer(evidence, FILE_SYSTEM, ratio.metric) if p.file_system == name]
    clients = max((nodes_of(point) for point in points), key=len, default=()) or _all_clients(evidence, name)
    ceiling = stated_rate(evidence, clients, facts) if facts and facts.servers else None
    if disk and ceiling:
        if shapes.middle(ratio) * disk >= FULL * ceiling:
            return None
        text = _(
            "That is %(rate)s of the disks' %(disk)s; the network would carry %(ceiling)s, which it cannot fill."
        )
        params = {"rate": rate(shapes.middle(ratio) * disk), "disk": rate(disk), "ceiling": rate(ceiling)}
        reasons.append(Message(text, params))
    present = shapes.middle(ratio) * disk if disk else None
    share = _Share(shapes.middle(ratio), ratio.low, ratio.high)
    max_rate = min(disk, ceiling) if disk and ceiling else disk
    return _draft(name, below, ratio.metric, share, ratio.trials, reasons, present, max_rate, 0.65)


def _measured_draft(verdict: Verdict) -> FindingDraft | None:
    """Return the share where the rate is no cache's and the network is known to have room."""
    disk, level = verdict.disk, verdict.level
    if disk is None or disk.is_stated or disk.is_floor or verdict.high or level in verdict.cached:
        return None
    network = verdict.network
    if network is None or network.is_other_way or not is_alike(level, disk) or is_over(level, disk):
        return None
    # The network lies beneath as well: where it is the narrower the share is of what it carries.
    ceiling = network.least if network.times == 1 else network.lower_bound
    is_narrower = ceiling < disk.least
    if level.value >= (ROOM if is_narrower else FULL) * network.sure:
        return None
    least = network if is_narrower else disk
    max_rate = min(ceiling, disk.least)
    share, error = level.value / max_rate, _error_of_ratio(level, least)
    name, trials = verdict.question.facts.name, tuple(sorted({*level.trials, *disk.trials}))
    if error > MOST_ERROR or least.swing:
        return _untold(verdict, least, share, error, trials)
    text = _("The network carries %(ceiling)s, which %(rate)s does not fill; the disks alone give %(disk)s.")
    reasons = [Message(text, {"ceiling": rate(ceiling), "rate": rate(level.value), "disk": rate(disk.least)})]
    share_range = _Share(share, share * (1 - error), share * (1 + error), is_narrower)
    confidence = 0.85 if level.n > 1 and least.n > 1 else 0.7
    draft = _draft(
        name, disk.subject, verdict.question.metric, share_range, trials, reasons, level.value, max_rate, confidence,
        is_of_then=bool(not_in_turn(level, (least,))),
    )  # fmt: skip
    return _in_turn(draft, verdict, least)


def _in_turn(draft: FindingDraft, verdict: Verdict, least: Beneath) -> FindingDraft:
    """Return a share as sure as the order lets it be: what was measured at another time may give less now."""
    against = (*of_order(verdict.level, (least,)), *of_another_level((least,)))
    if not not_in_turn(verdict.level, (least,)) or draft.kind == NO_CHANGE:
        return dataclasses.replace(draft, against=against)
    return dataclasses.replace(
        draft,
        against=against,
        confidence=min(draft.confidence, MOST_NOT_IN_TURN),
        missing=(*draft.missing, again(verdict, least)),
    )


def _error_of_ratio(level: Level, disk: Beneath) -> float:
    """Return half the 95 % interval of the share, as a part of it: the errors of both rates add in quadrature.

    A rate that nobody repeated is off as far as such rates usually are.
    """
    return math.hypot(*(_error_of(item.value, item.interval) for item in (level, disk)))


def _error_of(value: float, interval: tuple[float, float] | None) -> float:
    """Return how far an interval reaches to its wider side, as a part of its rate: that of a harmonic mean leans."""
    return max(interval[1] - value, value - interval[0]) / value if interval else shapes.ONCE


def _untold(verdict: Verdict, least: Beneath, share: float, error: float, trials: tuple[int, ...]) -> FindingDraft:
    """Return that the repetitions tell no share, and what would."""
    name, metric = verdict.question.facts.name, verdict.question.metric
    below = verdict.disk.subject if verdict.disk and not least.swing else least.subject
    params = {"name": name, "below": below, "metric": metric}
    why = Message(_("Too few repetitions, too far apart: the share is not known to within half of itself."))
    missing = Message(_("More repetitions of %(name)s and of %(below)s, five or more of each."), params)
    formula = f"X / B_disk = {100 * share:.0f} % ± {100 * share * error:.0f} %"
    if least.swing:
        text = _("%(layer)s had %(lower)s in some runs and %(upper)s in others when it was measured alone.")
        levels = {"lower": rate(least.swing.lower), "upper": rate(least.swing.upper)}
        why, missing = Message(text, {"layer": least.subject, **levels}), again(verdict, least)
        shares = [percent(verdict.level.value / value) for value in (least.least, least.most)]
        formula = f"X / B = {shares[0]} % | {shares[1]} %"
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=DOUBT,
        subject=f"{name} {metric}"[:200],
        title=Message(
            _("Not enough to tell which share of %(below)s beneath it %(name)s reaches (%(metric)s)"), params
        ),
        why=(why,),
        value=None if least.swing else share,
        unit="" if least.swing else "1",
        formula=formula,
        evidence=trials,
        confidence=0.5,
        applies_when=Message(_("Both were measured alike: the same files, record size and number of tasks.")),
        missing=(missing,),
        source="Student (1908); JCGM 100, 5.1.2",
    )


def _draft(
    name: str,
    below: str,
    metric: str,
    share: _Share,
    trials: tuple[int, ...],
    reasons: list[Message],
    present: float | None,
    max_rate: float | None,
    confidence: float,
    *,
    is_of_then: bool = False,
) -> FindingDraft:
    low, high = percent(share.low), percent(share.high)
    is_near = share.low >= FULL and not share.of_both
    # Of a layer of which so little is used nobody says that it is the limit.
    is_low, is_open = share.middle < ROOM, round(share.high, DIGITS) >= ROOM
    text = _(
        "%(name)s reaches %(share)s %% of %(below)s beneath it (%(metric)s): the disks and its own overhead of"
        " %(lost)s %% are the limit"
    )
    if share.of_both:
        text = _("%(name)s reaches %(share)s %% of what network and disks beneath it let through (%(metric)s)")
    elif is_low and is_open:
        # As its author says of what NFS reached over a tuned network: 60 to 70 %, by disks and overhead together.
        text = _(
            "%(name)s reaches %(share)s %% of %(below)s beneath it (%(metric)s): it takes the rest itself, and the"
            " disks may be a limit, too"
        )
    elif is_low:
        text = _("%(name)s reaches %(share)s %% of %(below)s beneath it (%(metric)s): the disks are not its limit")
    elif is_near:
        text = _("%(name)s gives nearly all that %(below)s beneath it does (%(metric)s)")
    if is_of_then and not is_near and not share.of_both:
        text = _(
            "%(name)s reaches %(share)s %% of what %(below)s beneath it gave alone at another time (%(metric)s): what"
            " it still gives decides what is the limit"
        )
    between = low if low == high else f"{low} - {high}"
    params = {
        "name": name,
        "below": below,
        "metric": metric,
        "lost": f"{100 * (1 - share.middle):.0f}",
        "share": between,
    }
    can_gain = max_rate is not None and present is not None and max_rate > present and not is_near
    own = [Message(_("What %(below)s gives and %(name)s does not is what the file system itself takes."), params)]
    if share.of_both or is_of_then or (is_low and not is_open):
        own = []
    return FindingDraft(
        rule=RULE,
        version=VERSION,
        kind=NO_CHANGE if is_near else DIAGNOSIS,
        subject=f"{name} {metric}"[:200],
        title=Message(text, params),
        why=(*own, *reasons) or (Message(_("So it is printed; the figures are not.")),),
        value=share.middle,
        unit="1",
        low=share.low,
        high=share.high,
        formula=f"X / min(X_net, B_disk) = {between} %" if share.of_both else f"X / B_disk = {between} %",
        evidence=trials,
        tried=present if can_gain else None,
        predicted=max_rate if can_gain else None,
        predicted_unit="B/s",
        confidence=confidence,
        applies_when=Message(_("Both were measured alike: the same files, record size and number of tasks.")),
        limits=(
            Message(_("Only once the network's windows are tuned; before that the network hides the difference.")),
        ),
        source="Global file system over a WAN (KISTI, PNU)",
    )


def _is_local(evidence: Evidence, name: str) -> bool:
    if any(point.layer == DISK and point.file_system == name for point in evidence.points):
        return True
    facts = evidence.file_systems.get(name)
    return (facts.kind if facts else name.lower()) in LOCAL


def _disk_rate(evidence: Evidence, name: str, metric: str) -> float | None:
    rates = [point.mean(metric) for point in evidence.points if point.file_system == name]
    return max((rate for rate in rates if rate is not None), default=None)


def _all_clients(evidence: Evidence, name: str) -> tuple[str, ...]:
    """Return the nodes that have a path to the servers of a file system."""
    servers = set(evidence.file_systems[name].servers) if name in evidence.file_systems else set()
    ends = [
        one if other in servers else other for one, other in evidence.paths if (one in servers) != (other in servers)
    ]
    return tuple(dict.fromkeys(ends))
