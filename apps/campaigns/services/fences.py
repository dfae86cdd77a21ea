"""Fences: what a run used is kept back while something of it may still run on a node that fell silent."""

from datetime import datetime

from django.db import transaction

from apps.campaigns.models import Reservation
from apps.core import queue


@transaction.atomic
def settle_fence(*, run_id: int, end: datetime | None, now: datetime) -> int:
    """Give back what is fenced for a run of which nothing can run any more; return how many resources.

    `end` is until when something of it may still run, None if nothing is left.
    """
    fenced = Reservation.objects.filter(run=run_id, released_at=None, fenced_until__isnull=False)
    if end is not None and end > now:
        fenced.exclude(fenced_until=end).update(fenced_until=end)
        return 0
    lifted = fenced.update(released_at=now)
    if lifted:
        queue.send(queue.SCHEDULE)
    return lifted
