"""End what runs carry out on their nodes at once, without waiting for a worker's turn."""

import itertools
from collections.abc import Collection

from django.db import transaction
from django.utils import timezone

from apps.agents import services as agents
from apps.campaigns import queries
from apps.campaigns import services as campaigns
from workers import clean_up

# Runs stopped in one transaction: few enough that none is held long.
BATCH = 50


def stop_runs(*, run_ids: Collection[int]) -> int:
    """Have the jobs of open runs stopped, and end those that have none yet; return how many runs there were.

    Whoever takes a run on at this moment is waited for: what it queued is stopped, too, unless it cleans up.
    """
    count = 0
    ordered = iter(sorted(run_ids))
    while batch := list(itertools.islice(ordered, BATCH)):
        now = timezone.now()
        with transaction.atomic():
            runs = queries.lock_open_runs(batch)
            begun = [run for run in runs if run.plan is not None]
            campaigns.mark_all_stopping(runs=begun, now=now)
            cleaning = {run.pk: run.stage for run in begun if clean_up.is_under_way(run)}
            agents.request_stops(run_refs=[run.pk for run in begun], now=now, spared=cleaning)
            for run in runs:
                if run.plan is None:
                    campaigns.cancel_run(run=run, now=now)
        count += len(runs)
    return count
