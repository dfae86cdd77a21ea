"""Whose turn it is: the one order of all long work that teams ask workers for, of whatever kind.

The next piece is of whoever had least of the workers' time lately, then what has waited longest. Of a team and the
person who asked, the one who had more counts: anybody may make many teams. What was an hour ago counts half, so that
nobody waits for long because of what they had, and nobody is ahead for long because they had nothing.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import Min, QuerySet
from django.utils import timezone

from apps.core.models import WorkerTime

# A piece counts for so much (s) from its beginning: also one with which the worker is lost.
LEAST_S = 1.0
# A look tries so many pieces at most: others have those, or ended them a moment ago.
MOST_TRIED = 20
FORGOTTEN_AFTER = timedelta(days=1)


@dataclass(frozen=True)
class Asked:
    """Where rows say for which team they are, who asked for them ("": nobody says), and since when they wait."""

    team: str
    person: str
    since: str


def take_next(rows: QuerySet[Any], asked: Asked, do: Callable[[int], bool], *, now: datetime) -> bool:
    """Call `do` with the primary keys of rows that wait, in turn, until it says that it began with one.

    False if there is none to begin with. What it takes is counted as the team's and the person's who asked.
    """
    return any(_take(pk, owners, do) for pk, owners in islice(in_turn(rows, asked, now=now), MOST_TRIED))


def in_turn(rows: QuerySet[Any], asked: Asked, *, now: datetime) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the primary key of each row and whose time it takes, in the order in which they are begun with now."""
    ways = [way for way in (asked.team, asked.person) if way]
    waiting = [
        (pks, _owners(asked, pks), since)
        for *pks, since in rows.order_by().values_list(*ways).annotate(first=Min(asked.since))
    ]
    had = _lately(now, {owner for _pks, owners, _since in waiting for owner in owners})
    waiting.sort(key=lambda one: (max((had.get(owner, 0.0) for owner in one[1]), default=0.0), one[2]))
    for pks, owners, _since in waiting:
        of_one = rows.filter(**dict(zip(ways, pks, strict=True))).order_by(asked.since, "pk")
        for pk in of_one.values_list("pk", flat=True)[:MOST_TRIED]:
            yield pk, owners


def _owners(asked: Asked, pks: Sequence[int | None]) -> list[str]:
    kinds = ("team", "person") if asked.person else ("team",)
    return [f"{kind} {pk}" for kind, pk in zip(kinds, pks, strict=True) if pk is not None]


def _take(pk: int, owners: Sequence[str], do: Callable[[int], bool]) -> bool:
    with _counted(owners):
        return do(pk)


@contextmanager
def _counted(owners: Sequence[str]) -> Iterator[None]:
    count(owners, LEAST_S)
    begin = time.monotonic()
    try:
        yield
    finally:
        # A database that has just gone away is told of by what was done, and of that nothing is lost.
        with suppress(DatabaseError):
            count(owners, time.monotonic() - begin - LEAST_S)


@transaction.atomic
def count(owners: Sequence[str], seconds: float) -> None:
    """Add to what these had of the workers' time, and forget what does not count any more."""
    now = timezone.now()
    # Locked in one order, whoever else counts for the same.
    for owner in sorted(owners):
        WorkerTime.objects.bulk_create([WorkerTime(owner=owner, at=now)], ignore_conflicts=True)
        row = WorkerTime.objects.select_for_update(no_key=True).get(owner=owner)
        row.spent_s, row.at = max(0.0, row.lately_s(now) + seconds), now
        row.save()
    old = WorkerTime.objects.filter(at__lt=now - FORGOTTEN_AFTER).select_for_update(skip_locked=True)
    WorkerTime.objects.filter(pk__in=old.values("pk")).delete()


def _lately(now: datetime, owners: set[str]) -> dict[str, float]:
    return {row.owner: row.lately_s(now) for row in WorkerTime.objects.filter(owner__in=owners)}
