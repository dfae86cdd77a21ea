"""The layers of a path to data side by side, as a page shows them."""

from dataclasses import dataclass

from apps.bench.rules.base import DISK, FILE_SYSTEM, LAYER_NAMES, NETWORK, SAMPLE, Alternative, Evidence, Proposal
from apps.bench.rules.layers.beneath import Beneath, rtt_of
from apps.bench.rules.layers.gaps import gaps
from apps.bench.rules.layers.questions import UNDESCRIBED, Level, path_of
from apps.bench.rules.layers.signatures import explain
from apps.bench.rules.layers.verdicts import Verdict, judge_all
from apps.bench.rules.shapes import CLIENTS, described, in_words, settings_apart
from apps.bench.statistics.bounds import Within
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent


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


def say(verdict: Verdict, evidence: Evidence) -> Message:
    """Return the verdict in a sentence."""
    level, share = verdict.level, None
    text = _("Not decided: what limits %(name)s (%(way)s, %(rate)s) cannot be told from what was measured.")
    if verdict.layer == NETWORK:
        text = _("The network is the limit of %(name)s (%(way)s): %(rate)s is %(share)s %% of what it carries.")
        share = verdict.of_network
        if verdict.network in verdict.described:
            text = _(
                "The network is the limit of %(name)s (%(way)s): %(rate)s is %(share)s %% of what it is described to"
                " carry."
            )
        elif verdict.is_of_flows:
            text = _(
                "The connections of %(name)s are its limit (%(way)s): %(rate)s is %(share)s %% of what TCP carries"
                " over as many (%(flows)s); over %(more)s it carries %(wide)s."
            )
    elif verdict.layer == DISK:
        text = _("The disks are the limit of %(name)s (%(way)s): %(rate)s is %(share)s %% of what they give.")
        share = verdict.of_disk
    elif verdict.layer == FILE_SYSTEM and verdict.high and verdict.others:
        text = _(
            "The fault is inside %(name)s (%(way)s): at times it gives only %(rate)s, which neither network nor disks"
            " explain."
        )
        if verdict.described:
            text = _(
                "The fault is inside %(name)s (%(way)s), if what lies beneath gives what it is described to: at times"
                " it gives only %(rate)s, which neither network nor disks explain."
            )
        elif verdict.not_in_turn:
            text = _(
                "The fault is inside %(name)s (%(way)s), if what lies beneath gave as much meanwhile as when it was"
                " measured alone: at times it gives only %(rate)s, which neither network nor disks explain."
            )
    elif verdict.layer == FILE_SYSTEM and verdict.described:
        text = _(
            "%(name)s (%(way)s) itself is the limit, if what lies beneath gives what it is described to: %(rate)s"
            " fills neither the network nor the disks."
        )
    elif verdict.layer == FILE_SYSTEM and verdict.not_in_turn:
        text = _(
            "%(name)s (%(way)s) itself is the limit, if what lies beneath gave as much meanwhile as when it was"
            " measured alone: %(rate)s fills neither the network nor the disks."
        )
    elif verdict.layer == FILE_SYSTEM:
        text = _("%(name)s (%(way)s) itself is the limit: %(rate)s fills neither the network nor the disks.")
    elif level in verdict.cached:
        text = _(
            "%(rate)s of %(name)s (%(way)s) is more than the layers beneath gave alone: a cache was measured, or they"
            " gave more meanwhile."
        )
    elif verdict.is_held:
        text = _(
            "Not decided: an end was at its limit while %(name)s (%(way)s) gave %(rate)s (a processor, or pauses)."
        )
    elif verdict.are_both_full:
        text = _(
            "Not decided: %(rate)s of %(name)s (%(way)s) is nearly all that the network carries,"
            " and nearly all that the disks give."
        )
    elif verdict.is_doubted:
        text = _(
            "Not decided: of %(name)s (%(way)s, %(rate)s) too few trials are without a flag to tell what limits it."
        )
    elif verdict.swinging:
        text = _SWINGING[verdict.swinging.layer]
    elif verdict.apart:
        text = _(
            "Not decided: %(name)s (%(way)s, %(rate)s) and what lies beneath it were measured months apart; what that"
            " gave then is not known."
        )
    elif verdict.is_shared:
        text = _("Not decided: another file system is as slow as %(name)s (%(way)s, %(rate)s) over the same path.")
    question = verdict.question
    levels = _levels_of(verdict.swinging) if verdict.swinging else {}
    params = {"name": question.facts.name, "metric": question.metric, "rate": format_quantity(level.value, "B/s")}
    params["way"] = _way(level, evidence)
    if verdict.network and verdict.network.flows:
        wide = format_quantity(verdict.network.wide, "B/s")
        params |= {"flows": str(verdict.network.flows), "more": str(verdict.network.more_flows), "wide": wide}
    return Message(text, {**params, **levels, "share": percent(share) if share else ""})


_SWINGING = {
    NETWORK: _(
        "Not decided: the network beneath %(name)s (%(way)s, %(rate)s) carried %(lower)s in some runs and %(upper)s"
        " in others when it was measured alone; which of them it had meanwhile is not known."
    ),
    DISK: _(
        "Not decided: the disks beneath %(name)s (%(way)s, %(rate)s) gave %(lower)s in some runs and %(upper)s in"
        " others when they were measured alone; which of them they had meanwhile is not known."
    ),
}


def _levels_of(layer: Beneath) -> dict[str, str]:
    """Return the two levels of a layer, for a message."""
    swing = layer.swing
    return (
        {"lower": format_quantity(swing.lower, "B/s"), "upper": format_quantity(swing.upper, "B/s")} if swing else {}
    )


def _way(level: Level, evidence: Evidence) -> str:
    """Return the metric of a level with what it was measured with."""
    parameters = described(level.point, UNDESCRIBED)
    clients = len(level.clients) or parameters.get(CLIENTS)
    apart = settings_apart(level.point, level.metric, evidence)
    return in_words(level.point.tool, level.metric, {**parameters, CLIENTS: clients}, apart)


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
    rows = [_beneath(verdict, layer) for layer in (verdict.network, verdict.disk, *verdict.apart) if layer]
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
        params = {**_levels_of(layer)}
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
        ratio=None if is_apart or (layer.swing and not layer.is_stated) else verdict.level.value / layer.value,
        trials=layer.trials,
        is_stated=layer.is_stated,
        is_limit=verdict.layer == layer.layer and not is_apart,
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
_OF_ITS_DISKS = _("More than its disks gave alone: a cache was measured, or they gave more meanwhile.")
CACHED = _("More than the layers beneath gave alone: a cache was measured, or they gave more meanwhile.")
