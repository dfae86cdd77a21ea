"""What limits a file system, in a sentence."""

from apps.bench.rules.base import DISK, FILE_SYSTEM, NETWORK, Evidence
from apps.bench.rules.layers.beneath import Beneath
from apps.bench.rules.layers.questions import UNDESCRIBED, Level
from apps.bench.rules.layers.verdicts import Verdict
from apps.bench.rules.shapes import CLIENTS, described, in_words, settings_apart
from apps.bench.rules.shapes.apart import words_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity, percent


def say(verdict: Verdict, evidence: Evidence) -> Message:
    """Return the verdict in a sentence."""
    level, share = verdict.level, None
    text = _("Not decided: what limits %(name)s (%(way)s, %(rate)s) cannot be told from what was measured.")
    if verdict.layer == NETWORK:
        text = _("The network is the limit of %(name)s (%(way)s): %(rate)s is %(share)s %% of what it carries.")
        share = verdict.of_network
        if verdict.is_over_disk:
            text = _(
                "The network is the limit of %(name)s (%(way)s), perhaps of what a cache gave: %(rate)s is"
                " %(share)s %% of what it carries, and more than its disks give alone."
            )
        elif verdict.network in verdict.described:
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
    elif verdict.unlike and DISK in verdict.lacks:
        text = _(
            "Not decided: the disks beneath %(name)s (%(way)s, %(rate)s) were measured alone, but not as it was"
            " (%(settings)s)."
        )
    elif verdict.is_shared:
        text = _("Not decided: another file system is as slow as %(name)s (%(way)s, %(rate)s) over the same path.")
    question = verdict.question
    levels = levels_of(verdict.swinging) if verdict.swinging else {}
    params = {"name": question.facts.name, "metric": question.metric, "rate": format_quantity(level.value, "B/s")}
    params["way"] = _way(level, evidence)
    if verdict.network and verdict.network.flows:
        wide = format_quantity(verdict.network.wide, "B/s")
        params |= {"flows": str(verdict.network.flows), "more": str(verdict.network.more_flows), "wide": wide}
    return Message(text, {**params, **levels, **unlike_of(verdict), "share": percent(share) if share else ""})


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


def levels_of(layer: Beneath) -> dict[str, str]:
    """Return the two levels of a layer, for a message."""
    swing = layer.swing
    return (
        {"lower": format_quantity(swing.lower, "B/s"), "upper": format_quantity(swing.upper, "B/s")} if swing else {}
    )


def unlike_of(verdict: Verdict) -> dict[str, str]:
    """Return what a rate asked of its disks that they were not asked alone, for a message."""
    settings = dict(verdict.unlike.unlike) if verdict.unlike else {}
    return {"settings": ", ".join(words_of(verdict.level.point.tool, settings))}


def _way(level: Level, evidence: Evidence) -> str:
    """Return the metric of a level with what it was measured with."""
    parameters = described(level.point, UNDESCRIBED)
    clients = len(level.clients) or parameters.get(CLIENTS)
    apart = settings_apart(level.point, level.metric, evidence)
    return in_words(level.point.tool, level.metric, {**parameters, CLIENTS: clients}, apart)
