"""A history as chart, table and file."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.bench import units
from apps.bench.statistics import bounds
from apps.comparison.history.changes import HistoryChange, segments_of
from apps.comparison.history.series import CampaignLevel, Subject
from apps.results import charts
from apps.results.doubts import Mark

COLUMNS = (
    "campaign", "name", "at", "n", "median", "ci_low", "ci_high", "ci_confidence", "mean", "minimum", "maximum",
    "unit", "tool_version", "change", "flagged", "flags", "told_by_archive",
)  # fmt: skip


@dataclass(frozen=True)
class HistoryRow:
    """A campaign's line in the table, with the change before it if there is one."""

    level: CampaignLevel
    change: HistoryChange | None
    mark: Mark | None = None


def rows_of(subject: Subject, levels: Sequence[CampaignLevel], changes: Sequence[HistoryChange]) -> list[HistoryRow]:
    """Return the table's lines, the newest campaign first."""
    at = {change.place: change for change in changes}
    return [
        HistoryRow(level, at.get(place), level.doubts.about(level.trials, subject.metric.name))
        for place, level in reversed(list(enumerate(levels)))
    ]


def flat_rows(
    subject: Subject, levels: Sequence[CampaignLevel], changes: Sequence[HistoryChange]
) -> list[dict[str, object]]:
    """Return one flat object a campaign, the oldest first, as CSV and JSON have them."""
    at = {change.place: change for change in changes}
    return [
        {
            "campaign": level.campaign,
            "name": level.name,
            "at": level.at.isoformat(),
            "n": level.summary.n,
            "median": level.summary.median,
            "ci_low": level.interval.low if level.interval else None,
            "ci_high": level.interval.high if level.interval else None,
            "ci_confidence": level.interval.confidence if level.interval else None,
            "mean": level.summary.mean,
            "minimum": level.summary.minimum,
            "maximum": level.summary.maximum,
            "unit": subject.metric.unit,
            "tool_version": ", ".join(sorted(level.versions)),
            "change": at[place].state if place in at else "",
            "flagged": mark.flagged if mark else 0,
            "flags": mark.counts if mark else {},
            "told_by_archive": level.is_told,
        }
        for place, level in enumerate(levels)
        for mark in [level.doubts.about(level.trials, subject.metric.name)]
    ]


def chart_of(subject: Subject, levels: Sequence[CampaignLevel], changes: Sequence[HistoryChange]) -> dict[str, Any]:
    """Return the chart: a point a campaign, the levels as lines between the changes, the changes as marks."""
    return {
        "kind": "line",
        "metric": {"name": subject.metric.name, "label": _(subject.metric.label), "unit": subject.metric.unit},
        "x": {"name": "at", "label": _("Measured"), "unit": "time", "numeric": True, "log": False},
        "series": [{"label": _(subject.metric.label), "points": [_point(subject, level) for level in levels]}],
        "lines": [*_level_lines(subject, levels, changes), *(_mark(subject, levels, change) for change in changes)],
    }


def _point(subject: Subject, level: CampaignLevel) -> dict[str, Any]:
    address = reverse("results:experiment", args=[level.experiment])
    return {
        "x": level.at.timestamp(),
        "y": level.summary.median,
        "low": level.interval.low if level.interval else None,
        "high": level.interval.high if level.interval else None,
        "n": level.summary.n,
        "points": list(level.values),
        "note": level.name,
        **charts.flags_of(level.doubts, level.trials, subject.metric.name),
        "url": f"{address}?metric={subject.metric.name}",
    }


def _level_lines(
    subject: Subject, levels: Sequence[CampaignLevel], changes: Sequence[HistoryChange]
) -> list[dict[str, Any]]:
    """Return a line for each stretch between changes; a history of one level needs none."""
    segments = segments_of(levels, changes)
    if len(segments) < 2:
        return []
    return [
        {
            "axis": "y",
            "value": segment.value,
            "label": units.format_quantity(segment.value, subject.metric.unit),
            "from": levels[segment.first].at.timestamp(),
            "to": levels[segment.last].at.timestamp(),
        }
        for segment in segments
    ]


def size_of(subject: Subject, change: HistoryChange) -> str:
    """Return how large a change is: "-12 %", or "0.1 % → 0.3 %" of a share, for a percent of a percent is neither.

    From nothing on there is no ratio.
    """
    unit = subject.metric.unit
    if unit in bounds.MOST or not math.isfinite(change.ratio):
        return f"{units.format_quantity(change.before, unit)} → {units.format_quantity(change.after, unit)}"
    return f"{100 * (change.ratio - 1):+.3g} %"


def _mark(subject: Subject, levels: Sequence[CampaignLevel], change: HistoryChange) -> dict[str, Any]:
    """Return the mark of a change, midway between the campaigns it lies between."""
    between = (levels[change.place - 1].at.timestamp() + levels[change.place].at.timestamp()) / 2
    size = size_of(subject, change)
    label = size if change.decision is None else f"{size} · {change.decision.get_state_display()}"
    return {"axis": "x", "value": between, "label": label, "style": "dismissed" if change.is_dismissed else "change"}
