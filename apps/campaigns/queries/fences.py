"""What is kept back because something of an earlier run may still use it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.campaigns.models import Reservation


@dataclass(frozen=True)
class Fence:
    """A resource ("node:3") that is kept back for a run (of a trial of a campaign), and until when at most."""

    resource: str
    run: int
    trial: int
    campaign: int
    until: datetime


def fences_of(resources: Collection[str] | None = None) -> dict[str, Fence]:
    """Return {resource: its fence} of those that are fenced now, all or those among `resources`; one query."""
    fenced = Reservation.objects.filter(released_at=None, fenced_until__isnull=False)
    if resources is not None:
        fenced = fenced.filter(resource__in=list(resources))
    columns = ("resource", "run_id", "run__trial_id", "run__trial__campaign_id", "fenced_until")
    rows: list[Any] = list(fenced.values_list(*columns))
    return {row[0]: Fence(*row) for row in rows}


def fenced_runs() -> set[int]:
    """Return the runs for which something is fenced."""
    fenced = Reservation.objects.filter(released_at=None, fenced_until__isnull=False)
    return set(fenced.values_list("run_id", flat=True))


def fenced_beside(*, resources: Collection[str], run: int, since: datetime) -> set[int]:
    """Return the other runs for which, at `since` or later, one of the resources was to be fenced."""
    fenced = Reservation.objects.filter(resource__in=list(resources), fenced_until__gt=since).exclude(run=run)
    return set(fenced.values_list("run_id", flat=True))


def held_among(resources: Collection[str]) -> set[str]:
    """Return those resources that a run holds, or that are kept back for one."""
    held = Reservation.objects.filter(resource__in=list(resources), released_at=None)
    return set(held.values_list("resource", flat=True))
