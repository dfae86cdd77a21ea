"""Make and change many items with few queries: each is checked by itself, and all are stored at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db import IntegrityError, models, transaction
from django.utils import timezone

from apps.accounts.models import Team, TeamOwned
from apps.testbeds.services import items, parts

# So many rows are written at once: a statement has a bounded number of values.
_AT_ONCE = 1000


@dataclass(frozen=True)
class Prepared:
    """A new item that is not stored yet, the rows of its parts, and what it was made of."""

    item: TeamOwned
    rows: Sequence[models.Model]
    values: Mapping[str, Any]


def prepare_item(*, kind: type[TeamOwned], team: Team, values: Mapping[str, Any]) -> Prepared:
    """Return an item as of `create_item` that is to be stored; ValidationError names what is wrong by itself."""
    item = items.new_item(kind=kind, team=team, values=values)
    makers = parts.ROWS.get(kind, {})
    return Prepared(
        item, [row for name in makers if name in values for row in makers[name](item, values[name])], values
    )


@transaction.atomic
def store_items(prepared: Sequence[Prepared]) -> None:
    """Store items of one kind with their parts.

    Django's IntegrityError or DataError, with nothing stored, if the database refuses one: `create_item` says why.
    """
    _store([one.item for one in prepared])
    for _kind, rows in groupby((row for one in prepared for row in one.rows), key=type):
        _store(list(rows))


@transaction.atomic
def change_items(changes: Sequence[tuple[TeamOwned, Mapping[str, Any]]]) -> None:
    """Change columns and parts of items of one kind, none of which gets another name or goes to another site.

    ValidationError, or Django's IntegrityError or DataError, with nothing stored, if one is refused: `update_item`
    says why.
    """
    kind, together = type(changes[0][0]), [item for item, _values in changes]
    _hold(kind, together)
    makers, columns = parts.ROWS.get(kind, {}), {"updated_at"}
    rows: dict[str, list[models.Model]] = {name: [] for name in makers}
    for item, values in changes:
        items.set_columns(item, values)
        columns |= values.keys() - makers.keys()
        for name, make in makers.items():
            rows[name] += make(item, values[name]) if name in values else []
    now = timezone.now()
    for item in together:
        item.updated_at = now
    kind._default_manager.bulk_update(together, sorted(columns), batch_size=_AT_ONCE)
    for name in makers:
        if name in parts.KEEPERS:
            parts.KEEPERS[name](rows[name])
        model, owner = parts.TABLES[name]
        owners = [item.pk for item, values in changes if name in values]
        if owners:
            model._default_manager.filter(**{f"{owner}__in": owners}).delete()
        _store(rows[name])


def _hold(kind: type[TeamOwned], together: Sequence[TeamOwned]) -> None:
    """Hold rows against other changes, and read them again; IntegrityError if one is gone."""
    locked_rows = kind._default_manager.select_for_update(no_key=True, of=("self",)).order_by("pk")
    fresh = {row.pk: row for row in locked_rows.filter(pk__in=[item.pk for item in together])}
    if len(fresh) < len(together):
        raise IntegrityError("Some of them were deleted meanwhile.")
    for item in together:
        for field in kind._meta.concrete_fields:
            setattr(item, field.attname, getattr(fresh[item.pk], field.attname))


def _store(rows: Sequence[models.Model]) -> None:
    if rows:
        type(rows[0])._default_manager.bulk_create(rows, batch_size=_AT_ONCE)
