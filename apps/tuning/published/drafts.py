"""What a case of a publication comes to: experiments that were made elsewhere, with their printed figures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.bench.rules.base import SAMPLE, Ratio, Trend
from apps.bench.text import Message


@dataclass(frozen=True)
class PublishedValue:
    """Printed values {metric: value in the metric's unit} at parameters of the tool, and where they stand."""

    place: str
    parameters: Mapping[str, Any]
    values: Mapping[str, float]
    statistic: str = SAMPLE


@dataclass(frozen=True)
class Setup:
    """One experiment: who measured with which tool, and what is printed of it; `version` as the publication says."""

    name: str
    tool: str
    roles: Mapping[str, tuple[str, ...]]
    file_system: str = ""
    figures: tuple[PublishedValue, ...] = ()
    trends: tuple[Trend, ...] = ()
    ratios: tuple[Ratio, ...] = ()
    version: str = ""

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is printed of it."""
        return not (self.figures or self.trends or self.ratios)


@dataclass(frozen=True)
class CaseDraft:
    """A case: its name, what its authors conclude, its experiments, and doubts in what is printed.

    `path` holds what the case itself says of its paths: ``capacity_bps``, ``most_bps`` that all carry, ``rtt_s``.
    """

    name: str
    conclusion: str
    note: str
    given: Mapping[str, Any]
    setups: tuple[Setup, ...]
    path: Mapping[str, float] = field(default_factory=dict)
    remarks: tuple[Message, ...] = ()
