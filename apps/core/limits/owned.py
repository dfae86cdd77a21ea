"""How many rows of a kind an owner may have: asked where rows are stored (core.models), so at every door.

The table is settings.OWNED_LIMITS (apps.config.settings.owned).
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache, reduce
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connections, models, router
from django.db.models import QuerySet
from django.utils import translation

from apps.bench.text import Message, _
from apps.core.errors import ConflictError
from apps.core.limits.owned_limit import OwnedLimit

# An owner with room for so many more, and for half of the most, waits for nobody: an archive that comes in would hold
# the row of its team for minutes. With less room those who add wait for each other, and none is over.
_ROOM = 1000
# No row has this key.
_OWNER = -1


class TooManyOwnedError(ConflictError):
    """An owner has as many rows of a kind as may be; `why` says so, to be stored."""

    def __init__(self, name: str, limit: OwnedLimit, owner: models.Model | None) -> None:
        text = _(
            "%(owner)s has %(most)s %(kind)s, or would have more; it may have no more (%(setting)s): remove some "
            "first, or ask the administrator of this service for more."
        )
        with translation.override(None):
            kind = Message(str(apps.get_model(limit.model)._meta.verbose_name_plural))
        values = {"owner": str(owner or "–"), "most": limit.most, "kind": kind.as_json(), "setting": name}
        self.why = Message(text, values)
        self.setting, self.limit = name, limit
        super().__init__(self.why)


def is_limited(model: type[models.Model]) -> bool:
    """Say whether an owner may have only so many of a model's rows."""
    return any(limit.model == model._meta.label and limit.most for limit in settings.OWNED_LIMITS.values())


def require_room(rows: Sequence[models.Model]) -> None:
    """Raise TooManyOwnedError unless owners may have these rows of one model, which are to be stored, as well.

    To be called in the transaction that stores them. What is stored already is not counted twice.
    """
    for name, limit in settings.OWNED_LIMITS.items():
        if rows and limit.most and limit.model == rows[0]._meta.label:
            _require(name, limit, rows)


def _require(name: str, limit: OwnedLimit, rows: Sequence[models.Model]) -> None:
    counted = [row for row in rows if all(getattr(row, key) == value for key, value in limit.counts.items())]
    stored_keys = [row.pk for row in counted if row.pk is not None]
    for owner, more in sorted(Counter(_owner_of(row, limit) for row in counted).items()):
        stored = _stored(limit, owner).exclude(pk__in=stored_keys)
        number = stored.count() if stored_keys else _count(limit, owner)
        if limit.most - number - more >= max(_ROOM, limit.most // 2):
            continue
        # Who adds to the same owner's at this moment waits here, and then counts these.
        held = _owners(limit).select_for_update(no_key=True, of=("self",)).filter(pk=owner).first()
        if stored.count() + more > limit.most:
            raise TooManyOwnedError(name, limit, held)


def _stored(limit: OwnedLimit, owner: int) -> QuerySet[Any]:
    model = apps.get_model(limit.model)
    rows = model._default_manager.filter(**{limit.owner: owner}, **limit.counts).order_by()
    in_force = getattr(model, "in_force", None)
    return rows.filter(in_force()) if in_force else rows


def _count(limit: OwnedLimit, owner: int) -> int:
    """Return how many rows an owner has: at each new row, so that the SQL is written once and kept."""
    model = apps.get_model(limit.model)
    if hasattr(model, "in_force"):
        # What is in force depends on the time.
        return _stored(limit, owner).count()
    sql, parameters = _question(limit.model, limit.owner, tuple(limit.counts.items()))
    with connections[router.db_for_read(model)].cursor() as cursor:
        cursor.execute(sql, [owner if value == _OWNER else value for value in parameters])
        (number,) = cursor.fetchone()
    return int(number)


@cache
def _question(model: str, owner: str, counts: tuple[tuple[str, Any], ...]) -> tuple[str, tuple[Any, ...]]:
    """Return the SQL that counts an owner's rows and its parameters, _OWNER in the place of the owner's."""
    # Not Count: that would be grouped by row.
    number = models.Func(template="count(*)", output_field=models.IntegerField())
    return _stored(OwnedLimit(model, owner, 0, dict(counts)), _OWNER).values_list(number).query.sql_with_params()


def _owners(limit: OwnedLimit) -> QuerySet[Any]:
    model: Any = apps.get_model(limit.model)
    for step in limit.owner.split("__"):
        model = model._meta.get_field(step).related_model
    rows: QuerySet[Any] = model._default_manager.all()
    return rows


def _owner_of(row: models.Model, limit: OwnedLimit) -> int:
    *steps, last = limit.owner.split("__")
    return int(getattr(reduce(getattr, steps, row), f"{last}_id"))
