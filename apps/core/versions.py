"""What was shown of a thing, as digests to compare when somebody acts on it: nobody undoes what they never saw."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from django.db.models import Model

from apps.bench import strict_json

_LENGTH = 16


def digest_of(value: Any) -> str:
    """Return 16 hexadecimal digits that stand for a value: the same for the same content in any order of keys."""
    text = strict_json.dumps(_plain(value), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def lock_row(row: Model) -> None:
    """Hold a row against other changes until the transaction ends; rows that refer to it can still be added.

    What the row names in `held_under` is held before it, as whoever changes that and then the row does: two who take
    them in different orders would wait for each other.
    """
    for name in getattr(row, "held_under", ()):
        lock_row(getattr(row, name))
    held = row._meta.model._base_manager.select_for_update(no_key=True).filter(pk=row.pk)
    list(held.order_by("pk").values_list("pk"))


def hold(row: Model) -> None:
    """Hold a row as `lock_row` does and read it again: what was read before may have been changed since.

    Whoever changes some fields of a row holds it, then sets these: the others stay as somebody else has set them
    meanwhile. ObjectDoesNotExist if the row is gone.
    """
    lock_row(row)
    row.refresh_from_db()


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Model):
        return value.pk
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((_plain(inner) for inner in value), key=str)
    if isinstance(value, Iterable):
        return [_plain(inner) for inner in value]
    return str(value)
