"""Which layer limits a file system's rate, by its share of what each layer gives alone (rule R16)."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench.rules.base import DISK, FILE_SYSTEM, NETWORK, Evidence
from apps.bench.rules.layers.beneath import Beneath, Network, disk_beneath
from apps.bench.rules.layers.questions import Level, Question, is_floor, questions

# A rate of this share of what a layer gives alone fills it; below the other the layer is not the limit.
FULL, ROOM = 0.85, 0.70
# A rate above what lies beneath by this much did not come from there.
BEYOND = 1.05
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
    def is_cached(self) -> bool:
        """Return whether the rate is more than its disk gives."""
        return _exceeds(self.level, self.disk)


@dataclass(frozen=True)
class Verdict:
    """The layers side by side: `level` is in question, `high` the upper of two modes, `cached` what a cache gave.

    `layer` is the limiting one, "" if that is not decided: `lacks` names the layers still unmeasured, `shared` says
    that another file system is as slow over the same path.
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
    shared: bool = False

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
        found = [other for other in self.others if not other.is_cached]
        best = max(found, key=lambda other: other.level.value, default=None)
        return best if best and best.level.value >= FASTER * self.level.value else None

    @property
    def trials(self) -> tuple[int, ...]:
        """Return the ids of all trials that the verdict rests on."""
        own = {*self.level.trials, *(self.high.trials if self.high else ())}
        beneath = {trial for layer in (self.network, self.disk) if layer for trial in layer.trials}
        return tuple(sorted(own | beneath | {trial for other in self.others for trial in other.level.trials}))


class Seen:
    """A question with its levels and what lies beneath, read once."""

    def __init__(self, evidence: Evidence, question: Question) -> None:
        self.question = question
        self.levels, self.modes = question.levels(), question.modes()
        self.disk, self._network = disk_beneath(evidence, question), Network(evidence, question)

    def network(self, level: Level) -> Beneath | None:
        """Return what the network carries for the clients of a level."""
        return self._network.beneath(level.clients)


def judge_all(evidence: Evidence) -> list[Verdict]:
    """Return the verdicts on all questions of the evidence of which a file system has a usable rate."""
    seen = [Seen(evidence, question) for question in questions(evidence)]
    return [verdict for each in seen if (verdict := _judge(each, seen))]


def _judge(seen: Seen, asked: Sequence[Seen]) -> Verdict | None:
    disk, high = seen.disk, None
    if seen.modes:
        level, high = seen.modes
        cached = [high] if _exceeds(high, disk, seen.network(high)) else []
    elif seen.levels:
        cached = [item for item in seen.levels if _exceeds(item, disk, seen.network(item))]
        kept = set(cached)
        level = next((item for item in seen.levels if item not in kept), seen.levels[0])
    else:
        return None
    network = seen.network(level)
    others = tuple(_others(seen, asked))
    layer, lacks, shared = ("", (), False) if level in cached else _decide(level, network, disk, others)
    if layer == FILE_SYSTEM and high is not None and high in cached:
        # What is slow at times and impossible at others contradicts the layers' figures.
        layer, lacks = "", tuple(beneath.layer for beneath in (network, disk) if beneath and _exceeds(high, beneath))
    return Verdict(seen.question, level, layer, network, disk, others, high, tuple(cached), lacks, shared)


def _decide(
    level: Level, network: Beneath | None, disk: Beneath | None, others: Sequence[Other]
) -> tuple[str, tuple[str, ...], bool]:
    """Return the limiting layer, the layers that still lack a figure, and whether others are as slow."""
    shares = {beneath.layer: level.value / beneath.value for beneath in (network, disk) if beneath}
    # What may give more than measured can be ruled out as the limit, and not be found to be it.
    certain = {beneath.layer for beneath in (network, disk) if beneath and not beneath.is_floor}
    filled = {layer: share for layer, share in shares.items() if share >= FULL and layer in certain}
    if filled:
        return max(filled, key=lambda layer: filled[layer]), (), False
    lacks = tuple(layer for layer in (NETWORK, DISK) if layer not in shares or shares[layer] >= FULL)
    if lacks or max(shares.values()) >= ROOM or is_floor(level):
        return "", lacks, False
    alike = [
        other
        for other in others
        if abs(other.level.value / level.value - 1) <= ALIKE
        and not other.is_cached
        and not (other.disk and other.level.value >= FULL * other.disk.value)
    ]
    if alike:
        return "", (NETWORK,), True
    return FILE_SYSTEM, () if others else (FILE_SYSTEM,), False


def _others(seen: Seen, asked: Sequence[Seen]) -> list[Other]:
    """Return what other file systems gave over the same path, in the same direction, the fastest first."""
    question, found = seen.question, []
    for other in asked:
        if other.question.facts.name == question.facts.name or other.question.metric != question.metric:
            continue
        if _is_same(question, other.question):
            levels = [Other(other.question, level, other.disk) for level in other.levels]
            # The best that is no cache's figure, and the best that is.
            for is_cached in (False, True):
                found += [item for item in levels if item.is_cached == is_cached][:1]
    return sorted(found, key=lambda other: -other.level.value)


def _is_same(question: Question, other: Question) -> bool:
    if question.bottleneck and other.bottleneck:
        return question.bottleneck == other.bottleneck
    return bool(question.clients & other.clients) and bool(set(question.facts.servers) & set(other.facts.servers))


def _exceeds(level: Level, *beneath: Beneath | None) -> bool:
    """Return whether a rate is more than some layer beneath can give, so that a cache gave it.

    What a disk is only said to give may be exceeded; what a link is said to carry may not.
    """
    known = [layer for layer in beneath if layer and not layer.is_floor]
    sure = [layer for layer in known if layer.layer == NETWORK or not layer.is_stated]
    return any(level.value > BEYOND * layer.value for layer in sure)
