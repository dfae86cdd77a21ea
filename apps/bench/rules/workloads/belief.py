"""Whether a figure of a file system is believable: the one reader of what refutes it or makes it doubtful."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from apps.bench.rules import pace
from apps.bench.rules.base import MODE, Evidence, Point
from apps.bench.rules.bearing import METRICS_OF_PATTERNS
from apps.bench.rules.layers import Verdict, judge_all
from apps.bench.rules.layers.questions import Question, level_of, route_of
from apps.bench.rules.layers.seen import Seen
from apps.bench.rules.shapes import CLIENTS, described, nodes_of
from apps.bench.rules.storage import caches
from apps.bench.rules.told import unknown_in
from apps.bench.rules.workloads.described import READ, WRITE, metric_of, rates_of
from apps.bench.text import Message, _
from apps.bench.units import format_quantity

_OF_SERVERS = _(
    "The servers' memory had room for what was read after it was written (cached-by-server): from disks it may be"
    " slower."
)
_AS_MUCH = _(
    "As much as %(rate)s for each client is not believable with other settings: a cache may have a part in this, too."
)


def distinct(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return each of some messages once, in their order."""
    distinct_messages: list[Message] = []
    for message in messages:
        if message not in distinct_messages:
            distinct_messages.append(message)
    return tuple(distinct_messages)


class _Upper(NamedTuple):
    """The trials of a point of which the upper of two modes is refuted, and the rate (B/s) between the modes."""

    trials: frozenset[int]
    least: float


class Belief:
    """What can be believed of evidence: nothing that lies beyond its layers, nor what a client's cache gave.

    The layers refute what the rules of the layers say they refute; of random access, of which these tell nothing, the
    same layers are asked here.
    """

    def __init__(self, evidence: Evidence, verdicts: Sequence[Verdict] | None = None) -> None:
        self._evidence = evidence
        self._refuted: dict[str, set[int]] = {}
        # {(file system, metric): the least rate (B/s) of a client that is refuted}.
        self._least: dict[tuple[str, str], float] = {}
        self._upper: dict[str, list[_Upper]] = {}
        for verdict in judge_all(evidence) if verdicts is None else verdicts:
            metric = verdict.question.metric
            for level in verdict.cached:
                if level is verdict.high and level.point.statistic != MODE:
                    between = (verdict.level.value + level.value) / 2
                    self._upper.setdefault(metric, []).append(_Upper(frozenset(level.trials), between))
                else:
                    self._refuted.setdefault(metric, set()).update(level.trials)
                name = verdict.question.facts.name
                apiece = level.value / max(len(level.clients), 1)
                self._least[name, metric] = min(apiece, self._least.get((name, metric), apiece))

    def rates(self, point: Point, pattern: str) -> Mapping[int, float]:
        """Return {trial: rate (B/s)} that a point gives of a pattern and that nothing refutes, {} for none."""
        rates, metric = rates_of(point, pattern), metric_of(point, pattern)
        if not rates or _has(point, metric, caches.FLAGS) or self._is_pooled(point):
            return {}
        if pattern not in (WRITE, READ):
            return {} if self._is_beyond(point, pattern) else rates
        if self._refuted.get(metric, set()) & {*rates}:
            return {}
        for upper in self._upper.get(metric, ()):
            if upper.trials & {*rates}:
                rates = {trial: rate for trial, rate in rates.items() if rate < upper.least}
        return rates

    def doubts(self, point: Point, pattern: str) -> tuple[Message, ...]:
        """Return what makes a point's rate of a pattern doubtful, without refuting it."""
        metric = metric_of(point, pattern)
        doubts = [Message(_OF_SERVERS)] if _has(point, metric, pace.OF_SERVER) else []
        least, rates = self._least.get((point.file_system, metric)), self.rates(point, pattern).values()
        clients = described(point, self._evidence).get(CLIENTS) or len(nodes_of(point)) or 1
        if least is not None and rates and sum(rates) / len(rates) / clients >= least:
            doubts.append(Message(_AS_MUCH, {"rate": format_quantity(least, "B/s")}))
        return tuple(doubts)

    def _is_pooled(self, point: Point) -> bool:
        """Return whether the files fitted into the page pool of the client."""
        pool = caches.pool_of(self._evidence.file_systems.get(point.file_system))
        return (
            bool(pool)
            and unknown_in(point.parameters).isdisjoint({"file_size", "threads"})
            and caches.fits(point, pool)
        )

    def _is_beyond(self, point: Point, pattern: str) -> bool:
        """Return whether random access had more than the layers beneath give in order."""
        facts = self._evidence.file_systems.get(point.file_system)
        if facts is None:
            return False
        metric = metric_of(point, pattern)
        # fio's metric of both is named so; the way that the data go is that of the pattern.
        way = METRICS_OF_PATTERNS[pattern][1]
        route = route_of(self._evidence, nodes_of(point), facts.servers)
        question = Question(facts, way, frozenset(nodes_of(point)), (), *route)
        level = level_of(point, metric, point.values(metric), point.statistic)
        return Seen(self._evidence, question).is_cached(level)


def _has(point: Point, metric: str, names: Collection[str]) -> bool:
    """Return whether a judge marked a metric of a point by one of these names."""
    return any(metric in point.bears.get(name, (metric,)) for name in {*names} & {*point.warnings, *point.flagged})
