"""How long a row of a list may be in an answer, and so how many of them make a page."""

from typing import Any

from django.contrib.postgres.fields import ArrayField

from apps.core.models import BoundedArrayField, BoundedJSONField

# Of one answer, of rows each of which is as long as it may be.
MOST_PAGE_BYTES = 16 * 1024 * 1024
# Of one sign, in UTF-8.
SIGN_BYTES = 4
# Of a number, a date, a name that stands for a row.
_USUAL_BYTES = 100
_NUMBERS_OF_ROWS = (1000, 500, 200, 100, 50)


_most_rows: dict[type[Any], int] = {}


def most_rows(view: type[Any]) -> int:
    """Return how many rows a page of a view's list has at most (50 to 1,000)."""
    if view not in _most_rows:
        size = row_bytes(view)
        fitting = (number for number in _NUMBERS_OF_ROWS if number * size <= MOST_PAGE_BYTES)
        _most_rows[view] = next(fitting, _NUMBERS_OF_ROWS[-1])
    return _most_rows[view]


def row_bytes(view: type[Any]) -> int:
    """Return how long a row of a view's list may be (bytes); 0 where its serializer is of no model."""
    serializer_class = getattr(view, "serializer_class", None)
    if not getattr(serializer_class, "Meta", None):
        return 0
    listing = view(action="list", request=None, kwargs={}, format_kwarg=None)
    kind: Any = listing.get_serializer_class()
    fields = {item.name: item for item in kind.Meta.model._meta.concrete_fields}
    return sum(
        _bytes_of(field, fields.get(name if field.source == "*" else str(field.source)))
        for name, field in kind().fields.items()
        if not field.write_only
    )


def _bytes_of(field: Any, source: Any) -> int:
    if isinstance(source, BoundedJSONField | BoundedArrayField):
        return int(getattr(source, "most_bytes", 20 * getattr(source, "most", 0)))
    if isinstance(source, ArrayField):
        return int((source.size or 0) * SIGN_BYTES * ((source.base_field.max_length or 0) + 1))
    length = getattr(source, "max_length", None) or getattr(field, "max_length", None)
    return SIGN_BYTES * int(length) if length else _USUAL_BYTES
