"""Runs in which nothing moved, of networks and of files: how many they are, and evidence without those of files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from apps.bench.rules.base import BELOW, DISK, DOUBT, FILE_SYSTEM, Alternative, Evidence, FindingDraft, Point
from apps.bench.rules.bearing import FILES
from apps.bench.rules.readings import read_once
from apps.bench.text import Message, _


@dataclass(frozen=True)
class Silence:
    """Points, in some of whose runs nothing moved: `empty` are the trials of those, `count` all runs."""

    points: tuple[Point, ...]
    empty: tuple[int, ...]
    count: int
    settings: int
    whole: int

    @property
    def params(self) -> Mapping[str, object]:
        """Return the counts for a message."""
        return {
            "count": len(self.empty),
            "n": self.count,
            "settings": self.settings,
            "of": len(self.points),
            "whole": self.whole,
        }


def silence_of(points: Sequence[Point], metrics: Sequence[str]) -> Silence | None:
    """Return the runs in which a metric of these was zero; None where something moved in each."""
    own = tuple(point for point in points if point.statistic != BELOW and _runs(point, metrics))
    empties = [{trial for trial, values in _runs(point, metrics).items() if 0 in values} for point in own]
    if not any(empties):
        return None
    return Silence(
        own,
        tuple(sorted(set().union(*empties))),
        sum(len(_runs(point, metrics)) for point in own),
        sum(map(bool, empties)),
        sum(len(empty) == len(_runs(point, metrics)) for point, empty in zip(own, empties, strict=True)),
    )


def draft_of(
    silence: Silence,
    rule: tuple[str, int],
    title: Message,
    why: tuple[Message, ...],
    applies_when: Message,
    alternatives: tuple[Alternative, ...],
    missing: tuple[Message, ...],
    subject: str = "",
) -> FindingDraft:
    """Return in how many runs nothing moved, which nobody can tell the reason of."""
    return FindingDraft(
        rule=rule[0],
        version=rule[1],
        kind=DOUBT,
        subject=subject,
        title=title,
        why=why,
        value=float(len(silence.empty)),
        unit="count",
        formula=f"n(X = 0) / n = {len(silence.empty)} / {silence.count}",
        evidence=silence.empty,
        confidence=0.9,
        applies_when=applies_when,
        alternatives=alternatives,
        missing=missing,
    )


@read_once
def of_files(evidence: Evidence) -> Mapping[str, Silence]:
    """Return {file system: the runs on it in which nothing was written, or nothing read}."""
    points: dict[str, list[Point]] = {}
    for point in evidence.points:
        if point.layer in (DISK, FILE_SYSTEM):
            points.setdefault(point.file_system, []).append(point)
    silences = {name: silence_of(own, FILES) for name, own in points.items()}
    return {name: silence for name, silence in silences.items() if silence}


@read_once
def moving(evidence: Evidence) -> Evidence:
    """Return evidence without the zeros of files: a server that hung is no point of a curve, nor part of a mean."""
    if not of_files(evidence):
        return evidence
    points = map(_moving, evidence.points)
    return replace(evidence, points=tuple(point for point in points if point.metrics))


def said_of(draft: FindingDraft, evidence: Evidence) -> tuple[Message, ...]:
    """Return what a finding says of the runs in which nothing moved on the file systems that it rests on."""
    trials = {*draft.trials}
    text = _("In %(count)s of %(n)s runs on %(name)s nothing was written or read: a fault, and no evidence here.")
    return tuple(
        Message(text, {**silence.params, "name": name or "?"})
        for name, silence in of_files(evidence).items()
        if any(trials & {*own} for point in silence.points for own in point.metrics.values())
    )


def _moving(point: Point) -> Point:
    if point.layer not in (DISK, FILE_SYSTEM) or point.statistic == BELOW:
        return point
    left = {
        name: {trial: value for trial, value in own.items() if value or name not in FILES}
        for name, own in point.metrics.items()
    }
    return replace(point, metrics={name: own for name, own in left.items() if own})


def _runs(point: Point, metrics: Sequence[str]) -> dict[int, list[float]]:
    """Return {trial: its values} of a point."""
    runs: dict[int, list[float]] = {}
    for name in metrics:
        for trial, value in point.metrics.get(name, {}).items():
            runs.setdefault(trial, []).append(value)
    return runs
