"""One line a figure: its name, value and unit, what it is compared with, and their ratio; the same as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """What was measured, in `unit`, beside the same of the plainest alternative; `target` is what it should hold."""

    name: str
    value: float
    unit: str
    compared_with: str
    baseline: float | None = None
    target: str = ""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Return value / baseline, None if there is no baseline to divide by."""
        return self.value / self.baseline if self.baseline else None


@dataclass(frozen=True)
class Skipped:
    """A figure that this machine can not give, and why."""

    name: str
    reason: str


def line_of(item: Figure | Skipped) -> str:
    """Return the line that is printed."""
    if isinstance(item, Skipped):
        return f"{item.name}: skipped, {item.reason}"
    baseline = "" if item.baseline is None else f" {number(item.baseline)} {item.unit}"
    ratio = "" if item.ratio is None else f", ratio {item.ratio:.4g}"
    target = f" (target: {item.target})" if item.target else ""
    note = f" [{item.note}]" if item.note else ""
    compared = f"; {item.compared_with}{baseline}{ratio}"
    return f"{item.name}: {number(item.value)} {item.unit}{target}{compared}{note}"


def as_json(lines: Sequence[Figure | Skipped]) -> dict[str, Any]:
    """Return all figures as one JSON object: {"figures": [...], "skipped": [...]}."""
    measured = [{**asdict(item), "ratio": item.ratio} for item in lines if isinstance(item, Figure)]
    return {"figures": measured, "skipped": [asdict(item) for item in lines if isinstance(item, Skipped)]}


def number(value: float) -> str:
    """Return a number with four digits that count, and never an exponent."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
