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

from django.db import Error, transaction
from django.db.models import Min, Q, QuerySet
from django.utils import timezone

from apps.core.models import WorkerTime

# A piece counts for so much (s) from its beginning: also one with which the worker is lost.
LEAST_S = 1.0
# A look tries so many pieces at most: others have those, or ended them a moment ago.
MOST_TRIED = 20
FORGOTTEN_AFTER = timedelta(days=1)


@dataclass(frozen=True)
class TurnFields:
    """Where rows say for which team they are, who asked for them ("": nobody says), and since when they wait."""

    team: str
    person: str
    since: str


@dataclass(frozen=True)
class Pieces:
    """Rows of one kind of work that wait; `do` begins with the row of a primary key, False if others have it."""

    rows: QuerySet[Any]
    asked: TurnFields
    do: Callable[[int], bool]


@dataclass(frozen=True)
class Piece:
    """A row that waits, of which kind, and whose time it takes."""

    kind: Pieces
    pk: int
    owners: Sequence[str]


def take_next(*kinds: Pieces, now: datetime) -> bool:
    """Do the first piece in turn, of all these kinds, that can be begun with; False if there is none.

    What it takes is counted as the team's and the person's who asked.
    """
    return any(_take(piece) for piece in islice(in_turn(*kinds, now=now), MOST_TRIED))


def in_turn(*kinds: Pieces, now: datetime) -> Iterator[Piece]:
    """Yield what waits in the order in which it is begun with now."""
    lines = [line for kind in kinds for line in _lines(kind)]
    had = _lately(now, {owner for line in lines for owner in line.owners})
    lines.sort(key=lambda line: (max((had.get(owner, 0.0) for owner in line.owners), default=0.0), line.since))
    for line in lines:
        for pk in line.rows.values_list("pk", flat=True)[:MOST_TRIED]:
            yield Piece(line.kind, pk, line.owners)


def before(pk: int, kind: Pieces) -> int:
    """Return how many pieces of the same team and person are begun with before one that waits; 0 if it waits not.

    No more can be said of the order: what others have meanwhile, of any kind of work, puts their pieces before or
    behind it.
    """
    asked = kind.asked
    ways = [way for way in (asked.team, asked.person) if way]
    own = kind.rows.filter(pk=pk).values(asked.since, *ways).first()
    if own is None:
        return 0
    since = own[asked.since]
    is_older = Q(**{f"{asked.since}__lt": since}) | Q(**{asked.since: since}, pk__lt=pk)
    return kind.rows.filter(is_older, **{way: own[way] for way in ways}).count()


@dataclass(frozen=True)
class _Line:
    """What one team and person wait for, of one kind, the oldest first."""

    kind: Pieces
    rows: QuerySet[Any]
    owners: Sequence[str]
    since: datetime


def _lines(kind: Pieces) -> list[_Line]:
    asked = kind.asked
    ways = [way for way in (asked.team, asked.person) if way]
    firsts = kind.rows.order_by().values_list(*ways).annotate(first=Min(asked.since))
    return [
        _Line(
            kind,
            kind.rows.filter(**dict(zip(ways, pks, strict=True))).order_by(asked.since, "pk"),
            _owners(asked, pks),
            since,
        )
        for *pks, since in firsts
    ]


def _owners(asked: TurnFields, pks: Sequence[int | None]) -> list[str]:
    kinds = ("team", "person") if asked.person else ("team",)
    return [f"{kind} {pk}" for kind, pk in zip(kinds, pks, strict=True) if pk is not None]


def _take(piece: Piece) -> bool:
    with _counted(piece.owners):
        return piece.kind.do(piece.pk)


@contextmanager
def _counted(owners: Sequence[str]) -> Iterator[None]:
    count(owners, LEAST_S)
    begin = time.monotonic()
    try:
        yield
    finally:
        # A database that has just gone away is told of by what was done, and of that nothing is lost.
        with suppress(Error):
            count(owners, time.monotonic() - begin - LEAST_S)


@transaction.atomic
def count(owners: Sequence[str], seconds: float) -> None:
    """Add to what these had of the workers' time, and forget what does not count any more."""
    now = timezone.now()
    # Locked in one order, whoever else counts for the same.
    for owner in sorted(owners):
        rows = WorkerTime.objects.select_for_update(no_key=True)
        row, _is_new = rows.get_or_create(owner=owner, defaults={"at": now})
        row.spent_s, row.at = max(0.0, row.lately_s(now) + seconds), now
        row.save()
    old = WorkerTime.objects.filter(at__lt=now - FORGOTTEN_AFTER).select_for_update(skip_locked=True)
    WorkerTime.objects.filter(pk__in=old.values("pk")).delete()


def over(most_s: float, now: datetime, kind: str) -> set[str]:
    """Return the owners of this kind ("reading of ") that had more than `most_s` (s) lately."""
    rows = WorkerTime.objects.filter(owner__startswith=kind, spent_s__gt=most_s)
    return {row.owner for row in rows if row.lately_s(now) > most_s}


def _lately(now: datetime, owners: set[str]) -> dict[str, float]:
    return {row.owner: row.lately_s(now) for row in WorkerTime.objects.filter(owner__in=owners)}
