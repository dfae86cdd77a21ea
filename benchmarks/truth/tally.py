"""Counts of what was said of many worlds: by rule, by kind, by noise, and how far confidence holds."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from benchmarks.truth.changes import Count
from benchmarks.truth.judging.base import FALSE, HARMFUL, TRUE, UNDECIDED
from benchmarks.truth.rounds import Heard

Json = dict[str, Any]
# The kind of an interval, of how many figures, and the noise.
Key = tuple[str, int, str]
# Confidence is told apart from here on.
SURE = 0.9
BANDS = (0.0, 0.5, 0.7, 0.8, 0.9)
# So many places of each rule are kept to be shown.
MOST_SHOWN = 200


@dataclass(frozen=True)
class Wrong:
    """A statement that does not hold: where, what was said, why."""

    seed: int
    family: str
    rule: str
    outcome: str
    subject: str
    confidence: float | None
    title: Json
    why: str


@dataclass
class Tally:
    """The counts; `add` one world after the other."""

    worlds: int = 0
    failures: list[str] = field(default_factory=list)
    by_rule: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    clean: Counter[str] = field(default_factory=Counter)
    traits: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    bands: dict[float, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    wrong: dict[str, list[Wrong]] = field(default_factory=lambda: defaultdict(list))
    contradictions: Counter[str] = field(default_factory=Counter)
    contradicted: list[tuple[int, str, str]] = field(default_factory=list)
    expected: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    missed: list[tuple[int, str]] = field(default_factory=list)
    # By kind, n and noise: of each world how many intervals held the truth, and of how many.
    coverage: dict[Key, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))

    changes: list[Count] = field(default_factory=list)

    def add(self, heard: Heard) -> None:
        """Count what was said of one world."""
        world = heard.world
        self.worlds += 1
        if heard.failure:
            self.failures.append(f"{world.family} {world.seed}: {heard.failure}")
        for statement, judgement in heard.said:
            self.by_rule[statement.source, statement.rule][judgement.outcome] += 1
            self.traits[world.noise.kind][judgement.outcome] += 1
            if world.is_clean:
                self.clean[judgement.outcome] += 1
            if statement.confidence is not None and judgement.outcome != UNDECIDED:
                band = max(low for low in BANDS if statement.confidence >= low)
                self.bands[band][judgement.outcome] += 1
            if (
                judgement.outcome in (FALSE, HARMFUL)
                and len(self.wrong[f"{statement.source}: {statement.rule}"]) < MOST_SHOWN
            ):
                self.wrong[f"{statement.source}: {statement.rule}"].append(
                    Wrong(
                        world.seed,
                        world.family,
                        statement.rule,
                        judgement.outcome,
                        statement.subject,
                        statement.confidence,
                        statement.fields.get("title", {}),
                        judgement.why,
                    )
                )
        for name, why in heard.contradictions:
            self.contradictions[name] += 1
            self.contradicted.append((world.seed, name, why))
        for name, is_said in heard.expected:
            self.expected[name]["said" if is_said else "missed"] += 1
            if not is_said:
                self.missed.append((world.seed, name))
        own: dict[Key, Counter[bool]] = defaultdict(Counter)
        for interval in heard.intervals:
            own[interval.kind, interval.n, world.noise.kind][interval.holds] += 1
        for key, counts in own.items():
            self.coverage[key].append((counts[True], counts.total()))

    @property
    def total(self) -> Counter[str]:
        """Return the outcomes of all statements."""
        return sum(self.by_rule.values(), Counter())

    def as_json(self) -> Json:
        """Return all counts as JSON has them."""
        return {
            "worlds": self.worlds,
            "failures": self.failures,
            "statements": dict(self.total),
            "clean": dict(self.clean),
            "rules": {f"{source}: {rule}": dict(counts) for (source, rule), counts in sorted(self.by_rule.items())},
            "noise": {name: dict(counts) for name, counts in sorted(self.traits.items())},
            "confidence": {f"{band:g}": dict(counts) for band, counts in sorted(self.bands.items())},
            "contradictions": dict(self.contradictions),
            "contradicted": self.contradicted,
            "expected": {name: dict(counts) for name, counts in sorted(self.expected.items())},
            "missed": self.missed,
            "coverage": [
                {"interval": kind, "n": n, "noise": noise, "worlds": counts}
                for (kind, n, noise), counts in sorted(self.coverage.items())
            ],
            "changes": [{**vars(count), "percent": count.percent} for count in self.changes],
            "wrong": {rule: [vars(item) for item in counts] for rule, counts in sorted(self.wrong.items())},
        }


def wrong_share(counts: Counter[str]) -> float:
    """Return which share of the statements that can be decided is false or harmful, 0 without any."""
    decided = counts[TRUE] + counts[FALSE] + counts[HARMFUL]
    return (counts[FALSE] + counts[HARMFUL]) / decided if decided else 0.0
