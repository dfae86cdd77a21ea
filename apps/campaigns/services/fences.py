"""Fences: what a run used is kept back while something of it may still run on a node that fell silent."""

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db import transaction

from apps.campaigns.models import Reservation
from apps.core import queue


@transaction.atomic
def settle_fences(*, ends: Mapping[int, datetime | None], run_ids: Collection[int], now: datetime) -> int:
    """Give back what is fenced for runs of which nothing can run any more; return how many resources.

    `ends` {run: until when something of it may still run}; a run that is not in it has nothing left.
    """
    lifted = 0
    for run_id in run_ids:
        fenced = Reservation.objects.filter(run=run_id, released_at=None, fenced_until__isnull=False)
        end = ends.get(run_id)
        if end is None or end <= now:
            lifted += fenced.update(released_at=now)
        else:
            fenced.exclude(fenced_until=end).update(fenced_until=end)
    if lifted:
        queue.send(queue.SCHEDULE)
    return lifted
