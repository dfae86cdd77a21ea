"""Rows whose worker was lost while it was at them: who runs out of memory, or of time, raises nothing.

What is about to be done is noted. A note that is there though nobody holds the work's lease tells of a lost worker,
which would else be lost again and again, with all rows that are done along with the one.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

from django.db import DatabaseError

from apps.core import isolation
from apps.core.models import SetAside

_NOTED = "at work: "


class LostWorkerError(Exception):
    """A worker was lost as it was at a row alone."""


@contextmanager
def noted(work: str, pks: Sequence[int], *, now: datetime) -> Iterator[None]:
    """Note rows as being worked at while the block lasts, within the lease of the work and no transaction."""
    notes = SetAside.objects.filter(work=_NOTED + work, row_id__in=pks)
    SetAside.objects.bulk_create(
        [SetAside(work=_NOTED + work, row_id=pk, first_at=now, last_at=now, retry_at=now) for pk in pks],
        ignore_conflicts=True,
    )
    try:
        yield
    finally:
        with suppress(DatabaseError):
            notes.delete()


def take_up(work: str, *, now: datetime, tell: isolation.Tell | None = None) -> None:
    """Set aside the row at which a worker was lost; of several each is tried alone from now on."""
    notes = SetAside.objects.filter(work=_NOTED + work)
    pks = list(notes.values_list("row_id", flat=True))
    if len(pks) == 1:
        try:
            raise LostWorkerError("It took more memory, or time, than a worker has.")
        except LostWorkerError as error:
            isolation.set_aside(work, pks[0], error, now=now, tell=tell)
    # Those that were set aside are tried alone.
    rows = [SetAside(work=work, row_id=pk, first_at=now, last_at=now, retry_at=now, reason="–") for pk in pks]
    SetAside.objects.bulk_create(rows, ignore_conflicts=True)
    if pks:
        notes.delete()
