"""Read a recipe: YAML, of which JSON is a part."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.campaigns.recipe_sizes import MOST_BYTES
from apps.campaigns.runnable.shape import FORMAT, VERSION, RecipeShape
from apps.core import contract, documents, messages

_LIMITS = documents.DocumentLimits(most_bytes=MOST_BYTES, deepest=12)
_SHAPE = contract.shape_of(RecipeShape)


def read_recipe(raw: bytes | str) -> dict[str, Any]:
    """Return the recipe that a file holds; ValidationError names each part that is wrong."""
    try:
        data = documents.read_yaml(raw, _LIMITS)
    except documents.UnreadableError as error:
        raise _wrong(messages.render(error.message)) from None
    if not isinstance(data, dict) or data.get(FORMAT) != VERSION:
        raise _wrong(_("A recipe begins with “%(mark)s: 1”; a campaign's page has one.") % {"mark": FORMAT})
    shape = RecipeShape(data=data)
    if unknown := contract.unknown_members(_SHAPE, {name: data[name] for name in data if name != FORMAT}, "recipe"):
        raise ValidationError(unknown)
    if not shape.is_valid():
        raise ValidationError(dict(_flat(shape.errors, "recipe")))
    return shape.validated_data


def _wrong(text: str) -> ValidationError:
    return ValidationError({"recipe": [text]})


def _flat(errors: Any, place: str) -> Iterable[tuple[str, list[str]]]:
    """Yield (dotted place, texts) of nested errors."""
    if isinstance(errors, Mapping):
        for name, inner in errors.items():
            yield from _flat(inner, f"{place}.{name}")
    elif isinstance(errors, list) and any(isinstance(inner, Mapping) for inner in errors):
        for number, inner in enumerate(errors):
            yield from _flat(inner, f"{place}.{number}")
    elif errors:
        yield place, [str(text) for text in errors]
