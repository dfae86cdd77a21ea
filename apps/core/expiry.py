"""What waits for somebody's decision is kept for so many days since it last changed, and then let go of."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.db.models import QuerySet
from django.utils.functional import cached_property

from apps.bench.text import Message, _
from apps.core import isolation

# So many at a time; what is left then is seen to by the next tick.
MOST = 200


class Expiring:
    """Adds to a TimeStamped model at which workers and a person take turns whose turn it is, and when it expires."""

    # What the work of the workers is called.
    WORK: ClassVar[str]
    # A worker has something to do in these states, a person in those.
    WORKING_STATES: ClassVar[tuple[str, ...]]
    UNDECIDED_STATES: ClassVar[tuple[str, ...]]
    pk: Any
    state: Any
    updated_at: Any

    @property
    def is_working(self) -> bool:
        """Say whether a worker has something to do."""
        return self.state in self.WORKING_STATES

    @property
    def is_undecided(self) -> bool:
        """Say whether somebody has to decide on it."""
        return self.state in self.UNDECIDED_STATES

    @property
    def is_over(self) -> bool:
        """Say whether nobody has anything to do any more."""
        return not self.is_working and not self.is_undecided

    @cached_property
    def retry(self) -> isolation.Retry | None:
        """Return why a worker's last turn came to nothing and when the next is, None if it did not fail."""
        return isolation.retry_of(self.WORK, self.pk) if self.is_working else None

    @property
    def kept_until(self) -> datetime | None:
        """Return when it expires unless somebody decides on it."""
        return self.updated_at + timedelta(days=settings.UNDECIDED_DAYS) if self.is_undecided else None


def reason() -> Message:
    """Return what an expired row tells: why it is gone, and what to do."""
    text = _("Nobody decided on it within %(days)s days, so what was sent was removed. Send it again to import it.")
    return Message(text, {"days": settings.UNDECIDED_DAYS})


def expire(undecided: QuerySet[Any], let_go: Callable[[Any], None], *, work: str, now: datetime) -> None:
    """Give each of the undecided rows that has been kept for long enough, held, to `let_go`.

    Whoever decides at the same moment waits for the row and finds it expired, or has it passed over here.
    """
    due = undecided.filter(updated_at__lt=now - timedelta(days=settings.UNDECIDED_DAYS)).order_by("pk")

    def expire_one(pk: int) -> None:
        row = due.select_for_update(no_key=True, skip_locked=True).filter(pk=pk).first()
        if row is not None:
            let_go(row)

    pks = due.filter(~isolation.waiting(work, now)).values_list("pk", flat=True)[:MOST]
    isolation.for_each(work, pks, expire_one, now=now)
