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


@dataclass(frozen=True)
class Walk:
    """An order in which a rule comes to its runs: by the moment `by`, and where it is kept how far that came."""

    by: str
    at: str
    run: str

    def where(self, rule: RetentionRule) -> tuple[datetime | None, int]:
        """Return the moment and the number of the run that a rule saw to last, (None, 0) before the first."""
        return getattr(rule, self.at), getattr(rule, self.run)


BY_END = Walk("ended_at", "done_at", "done_run")
# Imports and archives bring runs that ended before what was seen to by then.
BY_ARRIVAL = Walk("created_at", "arrival_at", "arrival_run")
# Whoever stores runs has committed them by then: none appears behind one that was seen to.
STORED_WITHIN = timedelta(hours=1)


def due_runs(rule: RetentionRule, walk: Walk, now: datetime) -> QuerySet[Run]:
    """Return the runs that a rule has not seen to yet on this walk, the earliest first.

    Each run is on one of the walks: by arrival those that ended before what had been seen to when they came.
    """
    due = Run.objects.filter(
        trial__campaign__team=rule.team_id,
        trial__campaign__deleting_at=None,
        ended_at__lt=now - timedelta(days=rule.days),
        created_at__lt=now - STORED_WITHIN,
    )
    if walk is BY_ARRIVAL:
        due = due.filter(_seen_to(rule), ended_at__lt=F("created_at")) if rule.done_at else due.none()
    moment, run = walk.where(rule)
    if moment is not None:
        # Said first by itself, so that the index is read from there on.
        due = due.filter(**{f"{walk.by}__gte": moment})
        due = due.filter(Q(**{f"{walk.by}__gt": moment}) | Q(pk__gt=run))
    return due.order_by(walk.by, "pk")


def _seen_to(rule: RetentionRule) -> Q:
    return Q(ended_at__lt=rule.done_at) | Q(ended_at=rule.done_at, pk__lte=rule.done_run)


def _bytes(column: str) -> Any:
    size = Func(F(column), function="pg_column_size", output_field=BigIntegerField())
    return Coalesce(size, Value(0), output_field=BigIntegerField())
