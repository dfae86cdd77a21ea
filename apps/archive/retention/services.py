"""Set the rules of retention, and carry them out bit by bit."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Sum

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.agents import compression
from apps.agents.models import JobFile, JobOutput
from apps.archive.models import RetentionRule
from apps.archive.retention import queries
from apps.campaigns.models import Run
from apps.core import immutability, isolation, leases, queue
from apps.core.models import SetAside
from apps.results import packed_arrays
from apps.results.models import Result, Series

Kind, Action = RetentionRule.Kind, RetentionRule.Action

CARRY_OUT_RULES = "carry_out_rules"
# Runs looked up at a time, and of these seen to in one transaction.
LOOK, BATCH = 5000, 100
# A worker is at it for so long (s) and then lets others have their turn.
TURN_S = 20.0


@transaction.atomic
def set_rule(
    *, team: Team, user: User, kind: str, days: int | None, action: str = Action.PACK
) -> RetentionRule | None:
    """Set what becomes of one kind of a team's data after so many days; None keeps it for ever.

    ValidationError names a field that is wrong.
    """
    rights.require(user, team, Role.MANAGER)
    earlier = RetentionRule.objects.select_for_update().filter(team=team, kind=kind).first()
    if days is None:
        if earlier:
            earlier.delete()
        return None
    rule = earlier or RetentionRule(team=team, kind=kind)
    if rule.action != action or days > (rule.days or 0):
        # What was packed is still there to be dropped, and what came while fewer days were kept is not due yet.
        rule.done_at, rule.done_run = None, 0
    rule.days, rule.action, rule.changed_by = days, action, user
    rule.full_clean()
    rule.save()
    return rule


def carry_out(*, now: datetime) -> bool:
    """See to the runs that are due, for TURN_S at most; True if something is left."""
    with leases.hold(CARRY_OUT_RULES) as is_ours:
        return is_ours and _take_turn(now)


def resume_retention(*, now: datetime) -> None:
    """Ask a worker to go on with rules that one began with and none is at: it was killed, or its message lost."""
    begun = RetentionRule.objects.filter(~isolation.waiting(CARRY_OUT_RULES, now), begun_at__isnull=False)
    if begun.exists() and not leases.is_held(CARRY_OUT_RULES):
        queue.remind(queue.RETAIN)


def _take_turn(now: datetime) -> bool:
    deadline = time.monotonic() + TURN_S

    def carry_out_one(pk: int) -> bool:
        if time.monotonic() > deadline:
            return True
        _retry_runs(pk, now)
        while _carry_out_some(pk, now, deadline):
            if time.monotonic() > deadline:
                return True
        RetentionRule.objects.filter(pk=pk, begun_at__isnull=False).update(begun_at=None)
        return False

    rules = RetentionRule.objects.order_by("pk").values_list("pk", flat=True)
    return any(isolation.for_each(CARRY_OUT_RULES, rules, carry_out_one, now=now, atomic=False))


def _carry_out_some(pk: int, now: datetime, deadline: float) -> bool:
    """See to some runs of a rule; False if none is due, or another worker is at it."""
    rule = RetentionRule.objects.filter(pk=pk).first()
    if rule is None:
        return False
    # Those that arrived go by what the other walk saw to before.
    for walk in (queries.BY_ARRIVAL, queries.BY_END):
        due = list(queries.due_runs(rule, walk, now).values_list(walk.by, "pk")[:LOOK])
        if due and rule.begun_at is None:
            RetentionRule.objects.filter(pk=pk).update(begun_at=now)
        for start in range(0, len(due), BATCH):
            if not _see_to(rule, walk, due[start : start + BATCH], now):
                return False
            if time.monotonic() > deadline:
                break
        if due:
            return True
        if walk is queries.BY_ARRIVAL:
            _pass_arrivals(rule, now)
    return False


def _pass_arrivals(rule: RetentionRule, now: datetime) -> None:
    """Leave all that arrived by now and is not due to the walk by end."""
    rows = RetentionRule.objects.filter(pk=rule.pk, arrival_at=rule.arrival_at, arrival_run=rule.arrival_run)
    rows.update(arrival_at=now - queries.STORED_WITHIN, arrival_run=0)


@transaction.atomic
def _see_to(
    rule: RetentionRule, walk: queries.Walk, due: Sequence[tuple[datetime | None, int]], now: datetime
) -> bool:
    """Carry the rule out on these runs; False if it was changed meanwhile, or another worker is at it."""
    locked = RetentionRule.objects.select_for_update(skip_locked=True).filter(pk=rule.pk).first()
    if locked is None or walk.where(locked) != walk.where(rule):
        return False
    runs = [pk for _moment, pk in due]
    freed = _do(locked, runs, now)
    for row in (rule, locked):
        setattr(row, walk.at, due[-1][0])
        setattr(row, walk.run, due[-1][1])
    locked.runs_done += len(runs)
    locked.bytes_freed += max(0, freed)
    locked.save(update_fields=[walk.at, walk.run, "runs_done", "bytes_freed"])
    return True


def _do(rule: RetentionRule, runs: list[int], now: datetime) -> int:
    """Carry the rule out on these runs, on each alone if that fails at once, and return how many bytes that freed."""
    how = _HOW[Kind(rule.kind), Action(rule.action)]
    freed = 0

    def do(some: list[int]) -> None:
        nonlocal freed
        with immutability.letting_go():
            gained = how(some, now)
        freed += gained

    isolation.for_all(_work_of(rule.pk), runs, do, now=now)
    return freed


@transaction.atomic
def _retry_runs(pk: int, now: datetime) -> None:
    """Carry a rule out on the runs with which that failed, if their time has come."""
    failed = SetAside.objects.filter(work=_work_of(pk), retry_at__lte=now).values_list("row_id", flat=True)
    rule = RetentionRule.objects.select_for_update(skip_locked=True).filter(pk=pk).first()
    if rule is None or not failed:
        return
    here = Run.objects.filter(pk__in=failed).values_list("pk", flat=True)
    rule.bytes_freed += max(0, _do(rule, list(here), now))
    rule.save(update_fields=["bytes_freed"])


def _work_of(pk: int) -> str:
    return f"{CARRY_OUT_RULES}:{pk}"


def _size(kind: str, runs: list[int]) -> int:
    return sum(rows.aggregate(bytes=Sum(size))["bytes"] or 0 for rows, size in queries.stored(kind, runs))


def _drop_series(runs: list[int], now: datetime) -> int:
    freed = _size(Kind.SERIES, runs)
    Result.objects.filter(run__in=runs, series__isnull=False).update(series_dropped_at=now)
    Series.objects.filter(result__run__in=runs).delete()
    return freed


def _pack_series(runs: list[int], now: datetime) -> int:
    before = _size(Kind.SERIES, runs)
    series_rows = list(Series.objects.filter(result__run__in=runs, packed_z=None))
    for series in series_rows:
        series.packed_z = packed_arrays.pack_arrays(series.times, series.values)
        series.times, series.values = [], []
    Series.objects.bulk_update(series_rows, ["packed_z", "times", "values"])
    return before - _size(Kind.SERIES, runs)


def _drop_output(runs: list[int], now: datetime) -> int:
    freed = _size(Kind.OUTPUT, runs)
    outputs = JobOutput.objects.filter(job__run_ref__in=runs)
    run_refs = outputs.values_list("job__run_ref", flat=True)
    Result.objects.filter(run__in=list(run_refs)).update(output_dropped_at=now)
    outputs.delete()
    JobFile.objects.filter(job__run_ref__in=runs).delete()
    return freed


def _pack_output(runs: list[int], now: datetime) -> int:
    before = _size(Kind.OUTPUT, runs)
    _pack(JobOutput, runs, ("stdout_z", "stderr_z", "telemetry_z"))
    _pack(JobFile, runs, ("content_z",))
    return before - _size(Kind.OUTPUT, runs)


def _pack(model: Any, runs: list[int], columns: tuple[str, ...]) -> None:
    for row in model.objects.filter(job__run_ref__in=runs).iterator(chunk_size=20):
        packed = {column: compression.pack(getattr(row, column)) for column in columns}
        model.objects.filter(pk=row.pk).update(**packed)


_HOW = {
    (Kind.SERIES, Action.DROP): _drop_series,
    (Kind.SERIES, Action.PACK): _pack_series,
    (Kind.OUTPUT, Action.DROP): _drop_output,
    (Kind.OUTPUT, Action.PACK): _pack_output,
}
