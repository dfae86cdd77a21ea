"""Which layer limits a file system's rate, by its share of what each layer gives alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from apps.bench.rules import pace
from apps.bench.rules.base import DISK, FILE_SYSTEM, MODE, NETWORK, Evidence
from apps.bench.rules.layers.asked import unlike
from apps.bench.rules.layers.beneath import Beneath
from apps.bench.rules.layers.days import When
from apps.bench.rules.layers.fullness import (
    FULL,
    exceeds,
    has_room,
    is_chance,
    is_filled,
    is_near_full,
    is_over,
    is_over_all,
)
from apps.bench.rules.layers.order import not_in_turn
from apps.bench.rules.layers.questions import Level, Question, is_floor, level_of, questions
from apps.bench.rules.layers.seen import Seen
from apps.bench.rules.readings import read_once

# Another file system over the same path that is faster by this shows that the path carries more; one within the
# other shows that what both share may be the limit.
FASTER, ALIKE = 1.5, 0.10


@dataclass(frozen=True)
class Other:
    """What another file system gave over the same path, and the disk beneath it."""

    question: Question
    level: Level
    disk: Beneath | None

    @property
    def when(self) -> When:
        """Return when it was measured."""
        return self.level.when

    @property
    def subject(self) -> str:
        """Return its name."""
        return self.question.facts.name

    @property
    def is_cached(self) -> bool:
        """Return whether the rate is more than its disk gives."""
        return exceeds(self.level, self.disk)


@dataclass(frozen=True)
class Verdict:
    """The layers side by side: `level` is in question, `high` the upper of two modes, `cached` what a cache gave.

    `layer` is the limiting one, "" if that is not decided: `lacks` names the layers still unmeasured, `is_shared`
    says that another file system is as slow over the same path, `is_held` that a judge saw an end set the pace,
    `is_doubted` that only figures which a judge doubted would blame the file system, `are_both_full` that network
    and disks are as full. `apart` are the layers that were only measured months before or after: what they gave then
    is not known, and nothing rests on them. Nor does anything on disks that were asked for something else (`unlike`).
    """

    question: Question
    level: Level
    layer: str
    network: Beneath | None
    disk: Beneath | None
    others: tuple[Other, ...] = ()
    high: Level | None = None
    cached: tuple[Level, ...] = ()
    lacks: tuple[str, ...] = ()
    is_shared: bool = False
    is_held: bool = False
    is_doubted: bool = False
    are_both_full: bool = False
    apart: tuple[Beneath, ...] = ()
    unlike: Beneath | None = None

    @property
    def elsewhen(self) -> tuple[Beneath | Other, ...]:
        """Return what of all beside the rate was measured in other campaigns than that."""
        beside = (self.network, self.disk, *self.others)
        return tuple(item for item in beside if item is not None and item.when.is_other_than(self.level.when))

    @property
    def not_in_turn(self) -> tuple[Beneath, ...]:
        """Return the layers beneath that were measured before or after the rate only, in other experiments."""
        return not_in_turn(self.level, (self.network, self.disk))

    @property
    def described(self) -> tuple[Beneath, ...]:
        """Return the layers beneath of which nobody measured what they give."""
        return tuple(item for item in (self.network, self.disk) if item is not None and item.is_stated)

    @property
    def swinging(self) -> Beneath | None:
        """Return the layer that shows two levels, at the lower of which it may be the limit, if none is told."""
        layers = (self.disk, self.network) if not self.layer else ()
        return next((item for item in layers if item and item.swing and not has_room(self.level, item)), None)

    @property
    def unsure(self) -> tuple[Beneath, ...]:
        """Return the layers to be measured once more: of two levels, or ruled out by what was at another time."""
        return (self.swinging,) if self.swinging else self.not_in_turn if self.layer == FILE_SYSTEM else ()

    @property
    def is_of_flows(self) -> bool:
        """Return whether its few connections are the limit: more of them would carry more."""
        return self.layer == NETWORK and self.network is not None and self.network.flows > 0

    @property
    def is_over_disk(self) -> bool:
        """Return whether what fills the network is more than its disks gave alone: a cache may have given it."""
        return self.layer == NETWORK and is_over_all(self.level, self.disk)

    @property
    def may_be_full(self) -> bool:
        """Return whether it comes so near all that a layer gives that chance alone may keep that from being named."""
        return is_near_full(self.level, self.network, self.disk)

    @property
    def of_network(self) -> float | None:
        """Return the rate's share of the network's."""
        return self.level.value / self.network.value if self.network else None

    @property
    def of_disk(self) -> float | None:
        """Return the rate's share of the disk's."""
        return self.level.value / self.disk.value if self.disk else None

    @property
    def faster(self) -> Other | None:
        """Return the fastest other file system that shows the path to carry clearly more."""
        rivals = [other for other in self.others if not other.is_cached]
        best = max(rivals, key=lambda other: other.level.value, default=None)
        return best if best and best.level.value >= FASTER * self.level.value else None

    @property
    def trials(self) -> tuple[int, ...]:
        """Return the ids of all trials that the verdict rests on."""
        own = {*self.level.trials, *(self.high.trials if self.high else ())}
        beneath = {trial for layer in (self.network, self.disk) if layer for trial in layer.trials}
        return tuple(sorted(own | beneath | {trial for other in self.others for trial in other.level.trials}))


def cached_in(verdicts: Iterable[Verdict]) -> frozenset[int]:
    """Return the trials of what caches gave: no evidence of what anything else gives."""
    return frozenset(trial for verdict in verdicts for level in verdict.cached for trial in level.trials)


@read_once
def judge_all(evidence: Evidence) -> tuple[Verdict, ...]:
    """Return the verdicts on all questions of the evidence of which a file system has a usable rate."""
    readings = [Seen(evidence, question) for question in questions(evidence)]
    return tuple(verdict for each in readings if (verdict := _judge(each, readings)))


def _judge(reading: Seen, readings: Sequence[Seen]) -> Verdict | None:
    high = None
    if reading.modes:
        level, high = reading.modes
        cached = [high] if reading.is_cached(high) else []
    elif reading.levels:
        cached = [item for item in reading.levels if reading.is_cached(item)]
        cache_levels = set(cached)
        level = next((item for item in reading.levels if item not in cache_levels), reading.levels[0])
    else:
        return None
    decision = Decision() if level in cached else _decide(reading, level, readings)
    rest = [item for item in reading.levels if item not in cached]
    if high is None and decision.layer == NETWORK and is_over_all(level, reading.near(level).disk):
        # What as many tasks or more have that is no more than the disks give is of no cache.
        within = [
            item for item in rest if item.tasks >= level.tasks and not is_over_all(item, reading.near(item).disk)
        ]
        if within:
            level, decision = within[0], _decide(reading, within[0], readings)
    near = reading.near(level)
    is_near = is_near_full(level, reading.network(level), near.disk)
    if level not in cached and high is None and decision.layer in ("", FILE_SYSTEM) and not is_near:
        # One that was measured as its disks were may tell what the best cannot.
        limits = (FILE_SYSTEM, DISK) if near.unlike else (FILE_SYSTEM,)
        alike = next((item for item in rest if reading.near(item).is_as_disks(item)), None)
        if alike is not None and alike is not level:
            other = _decide(reading, alike, readings)
            if other.layer in limits:
                level, decision, near = alike, other, reading.near(alike)
    network, disk = reading.network(level), near.disk
    layer, lacks = decision.layer, decision.lacks
    if layer == FILE_SYSTEM and high is not None and high in cached:
        # What is slow at times and impossible at others contradicts the layers' figures.
        layer, lacks = "", tuple(beneath.layer for beneath in (network, disk) if beneath and exceeds(high, beneath))
    return Verdict(
        reading.question, level, layer, network, disk, _others(reading, level, readings), high, tuple(cached), lacks,
        decision.is_shared, decision.is_held, decision.is_doubted, decision.are_both_full, near.apart, near.unlike,
    )  # fmt: skip


class Decision(NamedTuple):
    """The limiting layer ("" for undecided), those that lack a figure, and why it is not decided."""

    layer: str = ""
    lacks: tuple[str, ...] = ()
    is_shared: bool = False
    is_held: bool = False
    is_doubted: bool = False
    are_both_full: bool = False


def _decide(reading: Seen, level: Level, readings: Sequence[Seen]) -> Decision:
    """Return what limits a rate, as far as the layers beneath it decide that."""
    network, disk = reading.network(level), reading.near(level).disk
    others = _others(reading, level, readings)
    layers = [beneath for beneath in (network, disk) if beneath]
    is_held = bool(pace.flags_of(level.point))
    filled = [
        beneath for beneath in layers if is_filled(level, beneath) and not (is_held and is_chance(level, beneath))
    ]
    if filled:
        slowest = min(filled, key=lambda beneath: beneath.value)
        # Two that are as full as each other: which of them holds the rate nobody can tell. One that is said to give
        # less than what came through it is not full, but not known.
        rivals = [item for item in layers if item is not slowest and not item.is_part and not is_over(level, item)]
        if any(
            FULL * beneath.value <= level.value and beneath.value <= (1 + ALIKE) * slowest.value for beneath in rivals
        ):
            return Decision("", are_both_full=True)
        return Decision(slowest.layer)
    missing = tuple(name for name in (NETWORK, DISK) if name not in {beneath.layer for beneath in layers})
    lacks = missing + tuple(beneath.layer for beneath in layers if not has_room(level, beneath))
    if is_held:
        # A processor or another end was at its limit: that is neither of the layers, nor the file system.
        return Decision("", lacks, is_held=True)
    if lacks or is_floor(level):
        return Decision("", lacks)
    alike = [
        other
        for other in others
        if abs(other.level.value / level.value - 1) <= ALIKE
        and not other.is_cached
        and not (other.disk and other.level.value >= FULL * other.disk.value)
    ]
    if alike:
        return Decision("", (NETWORK,), is_shared=True)
    if not _is_sound(level, layers):
        return Decision("", is_doubted=True)
    return Decision(FILE_SYSTEM, () if others else (FILE_SYSTEM,))


def _is_sound(level: Level, layers: Sequence[Beneath]) -> bool:
    """Return whether figures that no judge doubted leave room beneath, more than one where others were doubted."""
    if level.statistic == MODE:
        return True
    if pace.is_lone(level.point, level.metric):
        return False
    values = pace.undoubted(level.point, level.metric)
    if len(values) == len(level.point.values(level.metric)):
        return True
    free = level_of(level.point, level.metric, values, level.statistic) if values else None
    return free is not None and free.n > 1 and all(has_room(free, beneath) for beneath in layers)


def _others(reading: Seen, level: Level, readings: Sequence[Seen]) -> tuple[Other, ...]:
    """Return what other file systems gave over the same path, in the same direction, the fastest first.

    Not what they gave months before or after the level in question, nor what was asked for something else.
    """
    question, rivals = reading.question, []
    for other in readings:
        if other.question.facts.name == question.facts.name or other.question.metric != question.metric:
            continue
        if _is_same(question, other.question):
            levels = [
                Other(other.question, own, other.near(own).disk)
                for own in other.levels
                if not own.when.is_far_from(level.when) and not unlike(level.point, own.point, level.metric)
            ]
            # The best that is no cache's figure, and the best that is.
            for is_cached in (False, True):
                rivals += [item for item in levels if item.is_cached == is_cached][:1]
    return tuple(sorted(rivals, key=lambda other: -other.level.value))


def _is_same(question: Question, other: Question) -> bool:
    if question.bottleneck and other.bottleneck:
        return (question.bottleneck, question.way) == (other.bottleneck, other.way)
    return bool(question.clients & other.clients) and bool(set(question.facts.servers) & set(other.facts.servers))
