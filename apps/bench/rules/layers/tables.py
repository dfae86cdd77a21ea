"""The layers of a path to data side by side, as a page shows them."""

from dataclasses import dataclass

from apps.bench.rules.base import FILE_SYSTEM, LAYER_NAMES, SAMPLE, Alternative, Evidence, Proposal
from apps.bench.rules.layers.beneath import Beneath, rtt_of
from apps.bench.rules.layers.gaps import gaps
from apps.bench.rules.layers.questions import Level, path_of
from apps.bench.rules.layers.signatures import explain
from apps.bench.rules.layers.titles import levels_of, say, unlike_of
from apps.bench.rules.layers.verdicts import Verdict, judge_all
from apps.bench.statistics.bounds import Within
from apps.bench.text import Message, _
from apps.bench.units import format_quantity


@dataclass(frozen=True)
class Row(Within):
    """One layer alone, or a file system: its rate (B/s) with n and 95 % interval.

    `ratio` is the share that the rate in question has of it; `statistic` as of a `Point`; `is_stated` of the
    inventory, not measured; `is_limit` if the verdict names it; `note` is a doubt in the figure; `day` is when it was
    measured ("" if nobody knows), `is_elsewhen` if that was in another campaign than the rate in question.
    """

    layer: str
    subject: str
    metric: str
    value: float
    tool: str = ""
    n: int = 0
    interval: tuple[float, float] | None = None
    ratio: float | None = None
    trials: tuple[int, ...] = ()
    statistic: str = SAMPLE
    is_stated: bool = False
    is_question: bool = False
    is_limit: bool = False
    note: Message | None = None
    day: str = ""
    is_elsewhen: bool = False

    @property
    def layer_label(self) -> str:
        """Return the layer in words: a msgid."""
        return LAYER_NAMES[self.layer]


@dataclass(frozen=True)
class Table:
    """The rows of one file system and metric, what limits it, why else it might, and what to measure still.

    `layer` is one of base's layers, "" while undecided.
    """

    file_system: str
    metric: str
    clients: tuple[str, ...]
    rows: tuple[Row, ...]
    layer: str
    verdict: Message
    alternatives: tuple[Alternative, ...]
    missing: tuple[Message, ...]
    proposals: tuple[Proposal, ...]


def table(evidence: Evidence) -> tuple[Table, ...]:
    """Return a table for each file system, metric and group of clients that was measured."""
    return tuple(_table(evidence, verdict) for verdict in judge_all(evidence))


def alternatives_of(evidence: Evidence, verdict: Verdict) -> tuple[Alternative, ...]:
    """Return the explanations that the arithmetic allows of a rate below every layer, ranked."""
    if verdict.layer != FILE_SYSTEM:
        return ()
    question = verdict.question
    path = path_of(evidence, question.clients, question.facts.servers)
    return explain(evidence, question, verdict.level, rtt_of(evidence, question), path.mtu if path else None)


def _table(evidence: Evidence, verdict: Verdict) -> Table:
    question, still = verdict.question, gaps(evidence, verdict)
    return Table(
        file_system=question.facts.name,
        metric=question.metric,
        clients=tuple(sorted(question.clients)),
        rows=tuple(_rows(verdict)),
        layer=verdict.layer,
        verdict=say(verdict, evidence),
        alternatives=alternatives_of(evidence, verdict),
        missing=tuple(message for message, _proposal in still),
        proposals=tuple(proposal for _message, proposal in still if proposal),
    )


def _rows(verdict: Verdict) -> list[Row]:
    beside = verdict.network, verdict.disk, verdict.unlike
    rows = [_beneath(verdict, layer) for layer in (*beside, *verdict.apart) if layer]
    for other in verdict.others:
        note = (
            _("More than its disks gave alone: a cache was measured, or they gave more meanwhile.")
            if other.is_cached
            else ""
        )
        rows.append(_level(verdict, other.level, other.question.facts.name, note))
    name = verdict.question.facts.name
    if verdict.high:
        rows.append(_level(verdict, verdict.high, name, _("The upper of two modes.")))
    rows += [_level(verdict, item, name, CACHED) for item in verdict.cached if item is not verdict.level][
        :MOST_CACHED
    ]
    note = CACHED if verdict.level in verdict.cached else _("The lower of two modes.") if verdict.high else ""
    return [*rows, _level(verdict, verdict.level, name, note, is_question=True)]


def _beneath(verdict: Verdict, layer: Beneath) -> Row:
    params: dict[str, object] = {}
    is_apart = layer in verdict.apart
    is_bound = not (is_apart or layer.unlike)
    note = _("Not measured with as many at once: it may give more.") if layer.is_floor else ""
    if layer.times > 1:
        note, params = (
            _("By one client, times %(times)s: nobody measured it with as many at once."),
            {"times": layer.times},
        )
        if layer.clients > 1:
            note = _("By one client at a time, added up for %(times)s: nobody measured it with as many at once.")
    if layer.flows:
        note = _("Over as many flows as the file system opens (%(flows)s); over %(more)s it carries %(wide)s.")
        params = {"flows": layer.flows, "more": layer.more_flows, "wide": format_quantity(layer.wide, "B/s")}
    elif layer.is_other_way:
        note = _("As described: TCP was only measured the other way.")
    if layer.swing:
        note = _("Two levels: %(lower)s in some runs, %(upper)s in others; no run had their mean.")
        params = {**levels_of(layer)}
    if layer.unlike:
        note, params = _("Measured otherwise than this (%(settings)s): no bound of it."), {**unlike_of(verdict)}
    if is_apart:
        note, params = _("Measured months before or after: it may have given something else then."), {}
    return Row(
        layer=layer.layer,
        subject=layer.subject,
        metric=verdict.question.metric,
        value=layer.value,
        tool=layer.tool,
        n=layer.n,
        interval=layer.interval,
        ratio=verdict.level.value / layer.value if is_bound and (not layer.swing or layer.is_stated) else None,
        trials=layer.trials,
        is_stated=layer.is_stated,
        is_limit=verdict.layer == layer.layer and is_bound,
        note=Message(note, params) if note else _cut_at_zero(layer.interval),
        day=layer.when.day,
        is_elsewhen=layer.when.is_other_than(verdict.level.when),
    )


def _level(verdict: Verdict, level: Level, name: str, note: str, *, is_question: bool = False) -> Row:
    return Row(
        layer=FILE_SYSTEM,
        subject=name,
        metric=verdict.question.metric,
        value=level.value,
        tool=level.point.tool,
        n=level.n,
        interval=level.interval,
        ratio=None if is_question else verdict.level.value / level.value,
        trials=level.trials,
        statistic=level.statistic,
        is_question=is_question,
        is_limit=is_question and verdict.layer == FILE_SYSTEM,
        note=Message(note) if note else _cut_at_zero(level.interval),
        day=level.when.day,
        is_elsewhen=level.when.is_other_than(verdict.level.when),
    )


def _cut_at_zero(interval: tuple[float, float] | None) -> Message | None:
    """Return that an interval is cut at zero, None where it is not."""
    return Message(_("The interval is cut at zero: no rate lies below.")) if interval and not interval[0] else None


# Of figures that a cache gave so many are shown.
MOST_CACHED = 3
CACHED = _("More than the layers beneath gave alone: a cache was measured, or they gave more meanwhile.")
