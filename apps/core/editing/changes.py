"""Who last changed a thing, and when."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Model
from django.utils import timezone

from apps.core import isolation
from apps.core.models import LastChange

FORGOTTEN_AFTER = timedelta(days=30)
# So many at a time; what is left then is seen to the next time.
_MOST = 1000
FORGET = "forget_changes"


@dataclass(frozen=True)
class LastEdit:
    """Who changed something, "" if that is not known, and when."""

    username: str
    at: datetime | None


def note_change(row: Model, username: str) -> None:
    """Keep who changed a row just now."""
    kind, now = row._meta.label_lower, timezone.now()
    LastChange.objects.bulk_create(
        [LastChange(kind=kind, row_id=row.pk, username=username, at=now)],
        update_conflicts=True,
        unique_fields=["kind", "row_id"],
        update_fields=["username", "at"],
    )


def last_change_of(row: Model) -> LastEdit:
    """Return who last changed a row, as far as that is known."""
    noted = LastChange.objects.filter(kind=row._meta.label_lower, row_id=row.pk).first()
    if noted:
        return LastEdit(noted.username, noted.at)
    return LastEdit("", getattr(row, "updated_at", None))


def forget_changes(*, now: datetime) -> None:
    """Forget who changed what long ago."""
    old = LastChange.objects.filter(at__lt=now - FORGOTTEN_AFTER).order_by("at").values_list("pk", flat=True)
    isolation.for_each(FORGET, old[:_MOST], lambda pk: LastChange.objects.filter(pk=pk).delete(), now=now)
