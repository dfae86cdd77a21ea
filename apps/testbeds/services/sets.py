"""Make many items with few queries: each is checked by itself, and all are stored at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db import models, transaction

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


def _store(rows: Sequence[models.Model]) -> None:
    if rows:
        type(rows[0])._default_manager.bulk_create(rows, batch_size=_AT_ONCE)
