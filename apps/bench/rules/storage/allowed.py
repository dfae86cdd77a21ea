"""What one client of a file system had at its best: so much at least is allowed by whatever is set there."""

from collections.abc import Sequence

from apps.bench.rules import pace
from apps.bench.rules.base import FILE_SYSTEM, SAMPLE, Evidence
from apps.bench.rules.layers.questions import level_of, of_layer
from apps.bench.rules.layers.verdicts import Verdict, cached_in
from apps.bench.rules.storage.common import rate
from apps.bench.text import Message, _

# From this share of what a setting is to allow on, the setting that there is allows it already.
ENOUGH = 0.8
# What holds a rate gave no more than this (a share) above it by chance.
MORE = 1.2
# So sure a setting is at most where what there is was seen to leave room.
DOUBTED = 0.5
_HAD = _(
    "One client had %(rate)s of %(name)s (%(way)s) with other settings, or at other times: what it is allowed now"
    " leaves room for that."
)


def most_of_one(evidence: Evidence, verdicts: Sequence[Verdict], verdict: Verdict) -> float:
    """Return the most (B/s) that one client had of a verdict's file system and metric, of a mode or a whole setting.

    Figures of a cache, and those that a judge doubted, tell nothing of it.
    """
    question, cached = verdict.question, cached_in(verdicts)
    levels = [
        level_of(point, question.metric, point.values(question.metric), point.statistic)
        for point in of_layer(evidence, FILE_SYSTEM, question.metric)
        if point.file_system == question.facts.name
        and question.clients.intersection(*point.roles.values() or [()])
        and not cached & {*point.trials(question.metric)}
        and len(pace.undoubted(point, question.metric)) == len(point.values(question.metric))
    ]
    levels += [verdict.level, *([verdict.high] if verdict.high and verdict.high not in verdict.cached else [])]
    return max(
        (level.value / max(len(level.clients), 1) for level in levels if level.n > 1 or level.statistic != SAMPLE),
        default=0.0,
    )


def against(verdict: Verdict, most: float) -> tuple[Message, ...]:
    """Return that one client had surely more than the rate for which a larger setting is advised."""
    if most <= MORE * verdict.level.value / max(len(verdict.level.clients), 1):
        return ()
    params = {"rate": rate(most), "name": verdict.question.facts.name, "way": verdict.question.metric}
    return (Message(_HAD, params),)
