"""What the service itself writes is within the bounds of its fields, too: an archive of it is else refused."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model


def too_long(model: type[Model], **values: Any) -> list[str]:
    """Return the names of the fields of a model that may not hold the values that they are to have."""
    return [name for name, value in values.items() if not _fits(model._meta.get_field(name), value)]


def _fits(field: Any, value: Any) -> bool:
    try:
        field.run_validators(value)
    except ValidationError:
        return False
    return True


def first_that_fit(model: type[Model], name: str, values: list[Any]) -> list[Any]:
    """Return as many of the first values as a field that is a list may hold."""
    if not too_long(model, **{name: values}):
        return values
    fit, excess = 0, len(values)
    while excess - fit > 1:
        middle = (fit + excess) // 2
        fit, excess = (fit, middle) if too_long(model, **{name: values[:middle]}) else (middle, excess)
    return values[:fit]
