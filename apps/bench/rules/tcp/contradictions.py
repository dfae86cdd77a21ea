"""What was measured beside a finding and speaks against it: one reader of each kind of evidence, asked for all rules.

Rows of tables count like runs of agents: what is read are figures, and a judge's flag where there is none.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from apps.bench import network
from apps.bench.rules import pace
from apps.bench.rules.base import BELOW, DOUBT, NO_CHANGE, Alternative, Evidence, FindingDraft
from apps.bench.rules.tcp import held, reordering, rivals, starts, unlike
from apps.bench.rules.tcp.between import FILES, TCP, levels_between
from apps.bench.rules.tcp.levels import said_of_levels
from apps.bench.rules.tcp.path import fills_surely
from apps.bench.rules.tcp.present import Present, read_all
from apps.bench.rules.tcp.repetitions import read_drift, read_modes, times_in_each
from apps.bench.rules.tcp.sweeps import is_tcp
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent

# So sure a finding is at most that its own figures let stand, and one of which what was measured makes little.
MEDIUM, LITTLE = 0.7, 0.5
PROCESSOR, RESENT, DATAGRAMS, QUEUE, MODES, DRIFT = "processor", "resent", "datagrams", "queue", "modes", "drift"
LEVELS, ORDER, START, NOTHING = "levels", "order", "start", "nothing"
# What is measured with windows and streams, which is what a present rate is of.
OF_WINDOW = (TCP, FILES)
# What a rule weighs itself, or what says nothing of what it tells: facts of the nodes, and the loss of datagrams.
WEIGHED: Mapping[str, frozenset[str]] = {
    "path-interface": frozenset({PROCESSOR, MODES, DRIFT, LEVELS, ORDER, NOTHING}),
    "path-route": frozenset({PROCESSOR, MODES, DRIFT, LEVELS, ORDER, NOTHING}),
    "path-loss": frozenset({PROCESSOR, MODES, DRIFT, ORDER, NOTHING}),
    "tcp-mtu": frozenset({PROCESSOR}),
    "tcp-path-mtu": frozenset({PROCESSOR}),
}


@dataclass(frozen=True)
class Objection:
    """What speaks against a finding, and how sure that is at most beside it; None where it only has to be told.

    `is_fatal` says that the finding does not stand. `cause` is what would explain the figures as well, before all
    others.
    """

    message: Message
    most: float | None = None
    is_fatal: bool = False
    cause: Alternative | None = None


Reader = Callable[[FindingDraft, Evidence], Objection | None]
Conclude = Callable[[Evidence], FindingDraft | None]


def weighed(conclude: Conclude) -> Conclude:
    """Return a rule whose findings say what was measured beside them that speaks against them, or are not told."""

    @functools.wraps(conclude)
    def concluded(evidence: Evidence) -> FindingDraft | None:
        draft = conclude(evidence)
        return weigh(draft, evidence) if draft else None

    return concluded


def weigh(draft: FindingDraft, evidence: Evidence) -> FindingDraft | None:
    """Return a finding with what speaks against it, as sure as that lets it be; None if it does not stand."""
    if draft.kind == DOUBT:
        return draft
    weighed_kinds = WEIGHED.get(draft.rule, frozenset())
    objections = [
        found
        for kind, read in READERS.items()
        if kind not in weighed_kinds and (found := read(draft, evidence)) is not None
    ]
    if any(objection.is_fatal for objection in objections):
        return None
    limits = [objection.most for objection in objections if objection.most is not None]
    messages = [objection.message for objection in objections if objection.message not in draft.against]
    causes = [objection.cause for objection in objections if objection.cause is not None]
    return replace(
        draft,
        against=(*draft.against, *messages),
        confidence=min([draft.confidence, *limits]),
        alternatives=(*causes, *draft.alternatives),
        proposals=(*(cause.proposal for cause in causes if cause.proposal), *draft.proposals),
    )


def _processor(draft: FindingDraft, evidence: Evidence) -> Objection | None:
    """Return that an end was at its limit at the highest of the rates that a finding rests on, or proposes."""
    if draft.subject == "processor":
        return None
    items = _resting(draft, evidence)
    item = max(items, key=lambda one: one.rate, default=None)
    if item is None or not pace.flags_of(item.point) or _fills(item, evidence):
        return None
    load = pace.busy_load(item.point)
    text = _("An end was at its limit at %(rate)s: that may hold the rate, and not the path or a window.")
    if load is not None:
        text = _(
            "A processor was %(load)s %% busy at %(rate)s: that may hold the rate, and not the path or a window."
        )
    params = {"load": f"{load or 0:.0f}", "rate": format_quantity(item.rate, "bit/s")}
    return Objection(Message(text, params), MEDIUM)


def _resent(draft: FindingDraft, evidence: Evidence) -> Objection | None:
    """Return that what a finding proposes sends much more again than what there is."""
    less, more = rivals.compared(draft, evidence)
    if more is None and draft.rule in rivals.WINDOWS and rivals.promises(draft):
        # Of what nobody measured yet the highest rate tells what the path takes for it.
        more, less = max(read_all(evidence), key=lambda item: item.rate, default=None), None
    if more is None or not unlike.is_lossier(more, less):
        return None
    return Objection(unlike.said_of_loss(more, less), MEDIUM)


def _datagrams(draft: FindingDraft, evidence: Evidence) -> Objection | None:
    """Return that datagrams are lost by chance, where a larger window is promised something that nobody measured."""
    if draft.rule not in rivals.WINDOWS or not rivals.promises(draft):
        return None
    less, more = rivals.compared(draft, evidence)
    if more is not None or (less is not None and less.lost_share is not None):
        return None
    left = unlike.left_by_datagrams(evidence)
    return Objection(left.message, LITTLE) if left is not None else None


def _queue(draft: FindingDraft, evidence: Evidence) -> Objection | None:
    """Return that a queue stands where a finding proposes more, or already where there is what there is."""
    if not rivals.promises(draft):
        return None
    less, more = rivals.compared(draft, evidence)
    if more is not None and unlike.is_slower(more, less):
        return Objection(unlike.said_of_delay(more, less))
    if more is None and less is not None and draft.rule in rivals.WINDOWS and (standing := unlike.queue_of(less)):
        return Objection(standing, LITTLE)
    return None


def _modes(draft: FindingDraft, evidence: Evidence) -> Objection | None:
    """Return that repetitions fall into two modes: what compares settings stands only if each mode bears it out."""
    modes = read_modes(evidence)
    if modes is None or not {*draft.trials} & {*modes.trials}:
        return None
    params = {"low": format_quantity(modes.lower, "bit/s"), "high": format_quantity(modes.upper, "bit/s")}
    less, more = rivals.compared(draft, evidence)
    if less is None or more is None:
        # What there is has no rate to speak of where its own repetitions met both modes.
        is_of_both = (
            less is not None and draft.present == less.rate and all(modes.split(less.point.values("goodput")))
        )
        text = _(
            "Repetitions of one setting fall into two modes, about %(low)s and %(high)s: no transfer has their mean."
        )
        return Objection(Message(text, params), LITTLE, is_fatal=is_of_both)
    times = times_in_each(modes, less.point.values("goodput"), more.point.values("goodput"))
    text = _(
        "Repetitions of one setting fall into two modes, about %(low)s and %(high)s: in the lower it is ×%(lower)s,"
        " in the upper ×%(upper)s."
    )
    if times is None:
        return Objection(Message(text, {**params, "lower": "?", "upper": "?"}), is_fatal=True)
    return Objection(Message(text, {**params, "lower": f"{times[0]:.2f}", "upper": f"{times[1]:.2f}"}), MEDIUM)


def _drift(draft: FindingDraft, evidence: Evidence) -> Objection | None:
    """Return that rates went one way from repetition to repetition."""
    drift = read_drift(evidence)
    if drift is None or not {*draft.trials} & {*drift.trials}:
        return None
    text = _("Rates fell by about %(share)s %% from the first repetition to the last: no moment had their mean.")
    if drift.change > 0:
        text = _("Rates rose by about %(share)s %% from the first repetition to the last: no moment had their mean.")
    return Objection(Message(text, {"share": percent(abs(drift.change))}), MEDIUM)


def _levels(draft: FindingDraft, evidence: Evidence) -> Objection | None:
    """Return that a setting surely had another rate at another time, or in runs of another length: the farthest.

    Two results of one setting leave open which of them there is: nothing is enough, or to be kept, by one of the two.
    """
    own, is_of_rate = {*draft.trials}, bool(draft.present or draft.tried)
    bearing = [
        levels
        for name, levels in levels_between(evidence).items()
        if levels.differences
        and (
            (is_of_rate and name in OF_WINDOW and levels.differences[0].unit == draft.predicted_unit)
            or own & {*levels.left_out, *(trial for item in levels.differences for trial in item.trials)}
        )
    ]
    of_times = [item for levels in bearing for item in levels.of_times]
    differences = of_times or [item for levels in bearing for item in levels.differences]
    if not differences:
        return None
    message = said_of_levels(max(differences, key=lambda item: item.times))
    if not of_times:
        return Objection(message, MEDIUM)
    return Objection(message, LITTLE, is_fatal=draft.kind == NO_CHANGE)


def _order(draft: FindingDraft, evidence: Evidence) -> Objection | None:
    """Return that datagrams came out of order, where a finding rests on a setting that sent segments again."""
    items = [item for item in _resting(draft, evidence) if held.is_lossy(item) and item.may_be_late]
    item = max(items, key=lambda one: one.lost_share or 0.0, default=None)
    if item is None or item.order is None or _fills(item, evidence):
        return None
    text = _(
        "Of datagrams %(share)s %% came out of order, which TCP takes for loss: what was sent again at %(rate)s may"
        " have come late only, and that may hold the rate."
    )
    params = {"share": reordering.percent_of(item.order), "rate": format_quantity(item.rate, "bit/s")}
    return Objection(Message(text, params), MEDIUM)


def _start(draft: FindingDraft, evidence: Evidence) -> Objection | None:
    """Return that a finding on a rate rests on a run of few RTTs, or on a rate that did not stay the same."""
    if not (draft.present or draft.tried):
        return None
    items = [item for item in _resting(draft, evidence) if not _fills(item, evidence)]
    short = ((message, item) for item in items if (message := starts.said_of(item, evidence)) is not None)
    message, item = next(short, (None, None))
    return Objection(message, MEDIUM, cause=starts.cause_of(item, evidence)) if message and item else None


def _nothing(_draft: FindingDraft, evidence: Evidence) -> Objection | None:
    """Return that with a setting of TCP nothing arrived in any run; where that is so of all, nothing stands."""
    points = [
        point
        for point in evidence.points
        if is_tcp(point) and point.statistic != BELOW and evidence.is_of_way(point) and point.values("goodput")
    ]
    empty = [point for point in points if not any(point.values("goodput"))]
    if not empty:
        return None
    text = _("With %(count)s of %(settings)s settings of TCP nothing arrived in any run (n = %(n)s).")
    runs = sum(len(point.values("goodput")) for point in empty)
    params = {"count": len(empty), "settings": len(points), "n": runs}
    return Objection(Message(text, params), LITTLE, is_fatal=len(empty) == len(points))


READERS: Mapping[str, Reader] = {
    PROCESSOR: _processor,
    RESENT: _resent,
    DATAGRAMS: _datagrams,
    QUEUE: _queue,
    MODES: _modes,
    DRIFT: _drift,
    LEVELS: _levels,
    ORDER: _order,
    START: _start,
    NOTHING: _nothing,
}


def _resting(draft: FindingDraft, evidence: Evidence) -> list[Present]:
    """Return the settings of TCP that a finding rests on or compares."""
    trials = {*draft.trials}
    pair = [item for item in rivals.compared(draft, evidence) if item is not None] if rivals.promises(draft) else []
    return [item for item in read_all(evidence) if trials & {*item.trials}] + pair


def _fills(item: Present, evidence: Evidence) -> bool:
    """Return whether a rate is all that the links are said to carry, whatever else was at its limit."""
    line = item.rate / network.tcp_efficiency(held.frame_of(evidence))
    return fills_surely(line, evidence.path.capacity_bps)
