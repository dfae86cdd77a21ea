"""Periodic work row by row: one that fails is set aside, told of, and tried again later, and the others are done.

The one way in which anything of the timetable goes through rows. Each row has a transaction of its own (or brings
its own); what fails is a `SetAside` with its reason, a line in the log, and is passed over until `retry_at`.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NoReturn, TypeVar

from django.db import DatabaseError, connection, transaction
from django.db.models import Exists, Model, OuterRef
from django.utils import timezone

from apps.bench.text import Message
from apps.core import clock, leases, outage, shutdown, signs, troubles
from apps.core.models import SetAside

logger = logging.getLogger(__name__)
Given = TypeVar("Given")
# What tells of a row that failed for the first time, where its team sees it.
Tell = Callable[[int, SetAside], object]

# What failed is tried again after this, each time twice as long, but not longer than that.
FIRST_WAIT = timedelta(seconds=5)
LONGEST_WAIT = timedelta(minutes=15)
# What failed for a state of the service is no dearer to try, and all rows are to be done soon after it is over; a row
# that the database takes too long for may be dear itself.
LONGEST_WAIT_OF_OURS, LONGEST_WAIT_OF_SLOW = timedelta(seconds=15), timedelta(minutes=2)
# A whole piece of work is about all rows: it is tried again soon.
LONGEST_WAIT_OF_ALL = timedelta(seconds=30)
# What was set aside and has not come up again for so long is done, or gone.
FORGOTTEN_AFTER = timedelta(days=1)
# The row that stands for a piece of work as a whole.
ALL = 0
FORGET = "forget_rows_set_aside"
_LONGEST_REASON = 2000


@dataclass(frozen=True)
class TimetablePart:
    """A part of the timetable: `do` is called with `now` and goes through its rows with the `name` as their work."""

    name: str
    do: Callable[..., object]


def for_each(
    work: str,
    rows: Iterable[int],
    do: Callable[[int], Given],
    *,
    now: datetime,
    tell: Tell | None = None,
    atomic: bool = True,
    filtered: bool = False,
    of: type[Model] | None = None,
) -> list[Given]:
    """Call `do` with the primary key of each row and return what it gave for those with which it did not fail.

    Each is a transaction; not with `atomic` False, for work that commits step by step. `tell` is called with a row
    that failed for the first time, and may write where its team sees it. Raises only what concerns every row: a
    database that is away. With `filtered` the rows were looked through with `waiting` already. Where rows `of` a
    model may be deleted under way, with one that is gone nothing failed: that is told as such.
    """
    pks = list(rows)
    if not pks:
        return []
    aside = {row.row_id: row for row in SetAside.objects.filter(work=work, row_id__in=pks)}
    answers: list[Given] = []
    for pk in pks:
        if pk in aside and aside[pk].is_waiting(now) and not filtered:
            continue
        try:
            with transaction.atomic() if atomic else nullcontext():
                answer = do(pk)
        except Exception as error:
            if of is not None and is_gone(of, pk):
                logger.info("%s %s was deleted meanwhile", of.__name__, pk)
                SetAside.objects.filter(work=work, row_id=pk).delete()
            else:
                set_aside(work, pk, error, now=now, tell=tell)
            continue
        answers.append(answer)
        if pk in aside:
            aside[pk].delete()
    return answers


def for_all(
    work: str,
    rows: Iterable[int],
    do: Callable[[list[int]], object],
    *,
    now: datetime,
    tell: Tell | None = None,
    filtered: bool = False,
) -> int:
    """Call `do` with all rows at once, in one transaction, and only if that fails with each alone.

    Return how many were done. Rows that were set aside before, and whose time has come again, are tried alone.
    """
    pks = list(rows)
    if not pks:
        return 0
    aside = set(SetAside.objects.filter(work=work, row_id__in=pks).values_list("row_id", flat=True))
    together = [pk for pk in pks if pk not in aside]
    alone = [pk for pk in pks if pk in aside]
    done = 0
    if together:
        try:
            with transaction.atomic():
                do(together)
            done = len(together)
        except Exception:
            raise_unless_usable()
            logger.info("%s failed with %s rows at once: each is tried alone", work, len(together))
            alone = pks
    return done + len(for_each(work, alone, lambda pk: do([pk]), now=now, tell=tell, filtered=filtered))


def carry_out(parts: Sequence[TimetablePart], *, is_long: bool = False) -> None:
    """Call each part by itself; one that fails as a whole is set aside for a while, too.

    A part that an earlier look is still at is passed over: a long one keeps no other part from being looked at. Which
    have ended is told at the broker, unless they may last for hours (`is_long`).
    """
    looks: dict[str, bool] = {}
    try:
        _carry_out_each(parts, leases.IDLE_AFTER_S if is_long else leases.IDLE_SOON_AFTER_S, looks)
    finally:
        if looks and not is_long:
            with suppress(*outage.BROKER_ERRORS):
                outage.ask_broker(lambda: signs.note_parts(looks))


def _carry_out_each(parts: Sequence[TimetablePart], idle_after_s: float, looks: dict[str, bool]) -> None:
    wholes = SetAside.objects.filter(work__in=[part.name for part in parts], row_id=ALL)
    failed = {row.work: row for row in wholes}
    for part in parts:
        now = timezone.now()
        whole = failed.get(part.name)
        if whole is not None and whole.is_waiting(now):
            looks[part.name] = True
            continue
        with leases.hold(f"part {part.name}", idle_after_s=idle_after_s) as is_ours:
            looks[part.name] = is_ours
            if is_ours and _carry_out(part, now) and whole is not None:
                whole.delete()


def _carry_out(part: TimetablePart, now: datetime) -> bool:
    try:
        part.do(now=now)
    except Exception as error:
        set_aside(part.name, ALL, error, now=now)
        return False
    return True


def set_aside(
    work: str,
    row_id: int,
    error: Exception,
    *,
    now: datetime,
    tell: Tell | None = None,
) -> SetAside:
    """Keep that a piece of work failed with a row, log it with its trace, and return what is kept.

    Called where `error` is handled. Raises it again if the database is away, for that is nothing of the row.
    """
    raise_unless_usable()
    reason = f"{type(error).__name__}: {error}"[:_LONGEST_REASON].replace("\0", "")
    cause = troubles.cause_of(error)
    longest = LONGEST_WAIT_OF_ALL if row_id == ALL else LONGEST_WAIT
    if troubles.is_ours(error):
        longest = min(longest, LONGEST_WAIT_OF_SLOW if cause == "slow" else LONGEST_WAIT_OF_OURS)
    with transaction.atomic():
        begun = {"first_at": now, "last_at": now, "retry_at": now, "reason": reason}
        row, _is_new = SetAside.objects.get_or_create(work=work, row_id=row_id, defaults=begun)
        row.attempts += 1
        row.reason, row.last_at, row.retry_at = reason, now, now + wait(row.attempts, longest)
        row.cause = cause
        row.save()
    what = "as a whole" if row_id == ALL else f"with row {row_id}"
    logger.exception("%s failed %s, attempt %s; tried again at %s", work, what, row.attempts, row.retry_at)
    if tell is not None and row.attempts == 1:
        _tell(work, row_id, row, tell)
    return row


def wait(attempts: int, longest: timedelta = LONGEST_WAIT) -> timedelta:
    """Return how long after so many failures something is tried again."""
    return min(FIRST_WAIT * 2 ** min(attempts - 1, 20), longest)


def waiting(work: str, now: datetime, *, changed: str = "") -> Exists:
    """Return the condition that a row of a query is set aside and its time has not come.

    For work that takes a limited number of rows, of which those must not be. With `changed`, a field or annotation
    that says when the row last changed, one that changed since it failed is tried again at once.
    """
    rows = SetAside.objects.filter(work=work, row_id=OuterRef("pk"), retry_at__gt=now, last_at__lte=now + clock.AHEAD)
    return Exists(rows.filter(last_at__gte=OuterRef(changed)) if changed else rows)


def try_again(row: SetAside, *, now: datetime) -> None:
    """Have a row tried again at the next look of its work, whatever it waits for."""
    row.retry_at = now
    row.save(update_fields=["retry_at"])


@dataclass(frozen=True)
class Retry:
    """Why a row waits to be tried again, how often it failed, and when it is tried next."""

    why: Message
    attempts: int
    next_at: datetime


def retry_of(work: str, row_id: int) -> Retry | None:
    """Return what a row is waiting for, None unless it failed."""
    row = SetAside.objects.filter(work=work, row_id=row_id).first()
    return Retry(troubles.words_of(row.cause), row.attempts, row.retry_at) if row else None


def keep_only(works: Iterable[str], rows: Iterable[int], *, now: datetime) -> None:
    """Forget what was set aside of pieces of work, if it is of none of the rows, which are all that are left to do.

    Somebody else saw to it meanwhile. What is not to be tried again yet may be newer than the rows.
    """
    aside = SetAside.objects.filter(work__in=list(works), retry_at__lte=now).exclude(row_id=ALL)
    left = set(rows)
    over = [row.pk for row in aside if row.row_id not in left]
    SetAside.objects.filter(pk__in=over).delete()


def forget(*, now: datetime) -> None:
    """Forget what has not come up again for long: it was done, or is gone."""
    gone = SetAside.objects.filter(retry_at__lt=now - FORGOTTEN_AFTER).order_by("pk")
    for_each(FORGET, gone.values_list("pk", flat=True)[:1000], lambda pk: gone.filter(pk=pk).delete(), now=now)


def _tell(work: str, row_id: int, row: SetAside, tell: Tell) -> None:
    try:
        with transaction.atomic():
            tell(row_id, row)
    except Exception:
        raise_unless_usable()
        logger.exception("That %s failed with row %s could not be told where it is seen", work, row_id)


def is_gone(model: type[Model], pk: int) -> bool:
    """Return whether a row was deleted; False where the database does not answer."""
    return connection.is_usable() and not model._default_manager.filter(pk=pk).exists()


def raise_if_gone(error: BaseException, row: Model) -> None:
    """Raise what was met at a row that was deleted meanwhile, for `for_each` to say so: nothing failed then."""
    if is_gone(type(row), row.pk):
        raise error


def give_back(error: BaseException, row: Model, release: Callable[[], object]) -> None:
    """Raise what was met at a row for a reason of ours (core.troubles), once `release` has let go of the row.

    Nothing is given up for it: the row is set aside with the reason, and tried again; at once after the start, if the
    worker is to stop (core.shutdown). What was met at a row that was deleted meanwhile is raised, too. Anything else
    is the caller's.
    """
    if not isinstance(error, shutdown.ShuttingDown) and not troubles.is_ours(error):
        raise_if_gone(error, row)
        return
    let_go(error, release)


def let_go(error: BaseException, release: Callable[[], object]) -> NoReturn:
    """Raise an error that was no fault of a row, once `release` has let go of the row."""
    if not connection.in_atomic_block and not connection.is_usable():
        # The session was ended: the database may well answer another.
        connection.close()
    # Where it is away, whoever takes up what is left counts a worker that was lost.
    with shutdown.put_off(), suppress(DatabaseError):
        release()
    raise error


def raise_unless_usable() -> None:
    """Raise the error being handled, unless the database answers."""
    if not connection.is_usable():
        raise
