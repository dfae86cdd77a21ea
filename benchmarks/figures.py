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


def line_of(found: Figure | Skipped) -> str:
    """Return the line that is printed."""
    if isinstance(found, Skipped):
        return f"{found.name}: skipped, {found.reason}"
    baseline = "" if found.baseline is None else f" {number(found.baseline)} {found.unit}"
    ratio = "" if found.ratio is None else f", ratio {found.ratio:.4g}"
    target = f" (target: {found.target})" if found.target else ""
    note = f" [{found.note}]" if found.note else ""
    compared = f"; {found.compared_with}{baseline}{ratio}"
    return f"{found.name}: {number(found.value)} {found.unit}{target}{compared}{note}"


def as_json(found: Sequence[Figure | Skipped]) -> dict[str, Any]:
    """Return all figures as one JSON object: {"figures": [...], "skipped": [...]}."""
    measured = [{**asdict(item), "ratio": item.ratio} for item in found if isinstance(item, Figure)]
    return {"figures": measured, "skipped": [asdict(item) for item in found if isinstance(item, Skipped)]}


def number(value: float) -> str:
    """Return a number with four digits that count, and never an exponent."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
