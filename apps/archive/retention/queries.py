"""What rules of retention would take away, and the runs that are due."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import BigIntegerField, Count, F, Func, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce

from apps.accounts.models import Team
from apps.agents.models import JobFile, JobOutput
from apps.archive.models import RetentionRule
from apps.campaigns.models import Run
from apps.results.models import Series

Kind = RetentionRule.Kind


@dataclass(frozen=True)
class RetentionPreview:
    """How many runs a rule concerns, how many things of theirs are stored, and how many bytes these take up."""

    kind: str
    days: int
    action: str
    runs: int
    things: int
    bytes: int


def preview(*, team: Team, kind: str, days: int, action: str, now: datetime) -> RetentionPreview:
    """Return what a rule would do now, were it new: samples are never part of it."""
    runs = Run.objects.filter(trial__campaign__team=team, ended_at__lt=now - timedelta(days=days)).order_by()
    things = total = 0
    for rows, size in stored(kind, runs.values("pk"), unpacked=action == RetentionRule.Action.PACK):
        sums = rows.aggregate(things=Count("pk"), bytes=Sum(size))
        things += sums["things"]
        total += sums["bytes"] or 0
    return RetentionPreview(kind, days, action, runs.count(), things, total)


def stored(kind: str, runs: Any, *, unpacked: bool = False) -> list[tuple[QuerySet[Any], Any]]:
    """Return (rows, the expression of a row's bytes) of what is stored of runs; of series only those `unpacked`."""
    if kind == Kind.SERIES:
        series = Series.objects.filter(result__run__in=runs).order_by()
        series = series.filter(packed_z=None) if unpacked else series
        return [(series, _bytes("times") + _bytes("values") + _bytes("packed_z"))]
    outputs = JobOutput.objects.filter(job__run_ref__in=runs).order_by()
    files = JobFile.objects.filter(job__run_ref__in=runs).order_by()
    return [
        (outputs, _bytes("stdout_z") + _bytes("stderr_z") + _bytes("telemetry_z")),
        (files, _bytes("content_z")),
    ]


def due_runs(rule: RetentionRule, now: datetime) -> QuerySet[Run]:
    """Return the runs that a rule has not seen to yet, the earliest first."""
    due = Run.objects.filter(
        trial__campaign__team=rule.team_id,
        trial__campaign__deleting_at=None,
        ended_at__lt=now - timedelta(days=rule.days),
    )
    if rule.done_at is not None:
        # Said first by itself, so that the index is read from there on.
        due = due.filter(ended_at__gte=rule.done_at)
        due = due.filter(Q(ended_at__gt=rule.done_at) | Q(pk__gt=rule.done_run))
    return due.order_by("ended_at", "pk")


def _bytes(column: str) -> Any:
    size = Func(F(column), function="pg_column_size", output_field=BigIntegerField())
    return Coalesce(size, Value(0), output_field=BigIntegerField())
