"""What rules read (evidence) and what they conclude (findings)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.bench.text import Message, _

Json = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """One point of a sweep: its parameters, and {metric: {trial id: value}} of its successful trials."""

    parameters: Mapping[str, Any]
    metrics: Mapping[str, Mapping[int, float]]

    def values(self, metric: str) -> list[float]:
        """Return the metric's values over the trials of the point."""
        return list(self.metrics.get(metric, {}).values())

    def trials(self, metric: str) -> tuple[int, ...]:
        """Return the ids of the trials that gave the metric."""
        return tuple(sorted(self.metrics.get(metric, {})))


@dataclass(frozen=True)
class PathFacts:
    """What is known of the path: the given capacity (bit/s), RTT (s) and MTU (B) of its links."""

    capacity_bps: float | None = None
    rtt_s: float | None = None
    mtu: int | None = None


@dataclass(frozen=True)
class Evidence:
    """All that a rule may use, of one pair of ends.

    `points` carry parameters and metrics as the tools name them (ping's and iperf3's together); `facts` are the
    nodes' facts by role, of which the rules read ``{"sysctls": {name: text}}``.
    """

    points: tuple[Point, ...]
    path: PathFacts = PathFacts()
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Alternative:
    """Another explanation or remedy, and what would tell them apart."""

    title: Message
    test: Message


@dataclass(frozen=True, kw_only=True)
class FindingDraft:
    """One conclusion: a value with its formula, the trials it rests on, the change and how to take it back.

    `value`, `low`, `high` are in `unit`; `predicted` and its interval in `predicted_unit`; `confidence` 0 to 1.
    """

    rule: str
    version: int
    title: Message
    why: tuple[Message, ...]
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    formula: str
    evidence: tuple[int, ...]
    change: str = ""
    undo: str = ""
    predicted: float | None = None
    predicted_interval: tuple[float, float] | None = None
    predicted_unit: str = "bit/s"
    confidence: float
    applies_when: Message
    limits: tuple[Message, ...] = ()
    side_effects: tuple[Message, ...] = ()
    source: str = ""
    alternatives: tuple[Alternative, ...] = ()

    @property
    def confidence_label(self) -> str:
        """Return high (from 0.8), medium (from 0.5) or low: a msgid."""
        if self.confidence >= 0.8:
            return _("high")
        return _("medium") if self.confidence >= 0.5 else _("low")

    def as_json(self) -> Json:
        """Return the finding as plain JSON values."""
        interval = list(self.predicted_interval) if self.predicted_interval else None
        return {
            **vars(self),
            "title": self.title.as_json(),
            "why": [message.as_json() for message in self.why],
            "evidence": list(self.evidence),
            "predicted_interval": interval,
            "confidence_label": self.confidence_label,
            "applies_when": self.applies_when.as_json(),
            "limits": [message.as_json() for message in self.limits],
            "side_effects": [message.as_json() for message in self.side_effects],
            "alternatives": [
                {"title": item.title.as_json(), "test": item.test.as_json()} for item in self.alternatives
            ],
        }
