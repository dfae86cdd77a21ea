"""What was shown of a thing, as digests to compare when somebody acts on it: nobody undoes what they never saw."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from django.db.models import Model

_LENGTH = 16


def digest_of(value: Any) -> str:
    """Return 16 hexadecimal digits that stand for a value: the same for the same content in any order of keys."""
    text = json.dumps(_plain(value), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def lock_row(row: Model) -> None:
    """Hold a row against other changes until the transaction ends; rows that refer to it can still be added."""
    held = row._meta.model._base_manager.select_for_update(no_key=True).filter(pk=row.pk)
    list(held.order_by("pk").values_list("pk"))


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
