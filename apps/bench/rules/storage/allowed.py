"""What one client of a file system had at its best: so much at least is allowed by whatever is set there."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from apps.bench.rules import pace
from apps.bench.rules.base import FILE_SYSTEM, SAMPLE, Evidence
from apps.bench.rules.layers.questions import METRICS, Level, Question, level_of, of_layer
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


class Most(NamedTuple):
    """The most (B/s) that one client had, and whether in writing or in reading."""

    value: float
    way: str


def most_either_way(evidence: Evidence, verdicts: Sequence[Verdict], verdict: Verdict) -> Most:
    """Return the most that one client had of a verdict's file system, for what allows writing and reading alike."""
    question = verdict.question
    others = (
        Most(_most_of(_whole(evidence, verdicts, question, way)), way) for way in METRICS if way != question.metric
    )
    return max(Most(most_of_one(evidence, verdicts, verdict), question.metric), *others)


def most_of_one(evidence: Evidence, verdicts: Sequence[Verdict], verdict: Verdict) -> float:
    """Return the most (B/s) that one client had of a verdict's file system and metric, of a mode or a setting."""
    levels = [*_whole(evidence, verdicts, verdict.question, verdict.question.metric), verdict.level]
    return _most_of([*levels, *([verdict.high] if verdict.high and verdict.high not in verdict.cached else [])])


def _whole(evidence: Evidence, verdicts: Sequence[Verdict], question: Question, metric: str) -> list[Level]:
    """Return what whole settings gave the clients of a question, one way.

    Figures of a cache, and those that a judge doubted, tell nothing of what a client is allowed.
    """
    cached = cached_in(verdicts)
    return [
        level_of(point, metric, point.values(metric), point.statistic)
        for point in of_layer(evidence, FILE_SYSTEM, metric)
        if point.file_system == question.facts.name
        and question.clients.intersection(*point.roles.values() or [()])
        and not cached & {*point.trials(metric)}
        and len(pace.undoubted(point, metric)) == len(point.values(metric))
    ]


def _most_of(levels: Iterable[Level]) -> float:
    return max(
        (level.value / max(len(level.clients), 1) for level in levels if level.n > 1 or level.statistic != SAMPLE),
        default=0.0,
    )


def against(verdict: Verdict, most: float, way: str = "") -> tuple[Message, ...]:
    """Return that one client had surely more, this or another way, than where a larger setting is advised."""
    if most <= MORE * verdict.level.value / max(len(verdict.level.clients), 1):
        return ()
    params = {"rate": rate(most), "name": verdict.question.facts.name, "way": way or verdict.question.metric}
    return (Message(_HAD, params),)
