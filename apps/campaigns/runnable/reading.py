"""Read a recipe: YAML, of which JSON is a part."""

from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from apps.campaigns.runnable.shape import FORMAT, VERSION, RecipeShape

MOST_BYTES = 1_000_000
_DEEPEST = 12
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_recipe(raw: bytes | str) -> dict[str, Any]:
    """Return the recipe that a file holds; ValidationError names each part that is wrong."""
    if len(raw) > MOST_BYTES:
        raise _wrong(_("The file is too large: %(limit)s bytes at most.") % {"limit": MOST_BYTES})
    try:
        text = raw if isinstance(raw, str) else raw.decode("utf-8-sig")
        _refuse_traps(text)
        data = yaml.load(text, Loader=_LOADER)  # noqa: S506 - it is a safe loader, in C where there is one.
    except UnicodeDecodeError:
        raise _wrong(_("The file is not text in UTF-8.")) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise _wrong(_("The file is not YAML; look at line %(line)s.") % {"line": line}) from None
    if not isinstance(data, dict) or data.get(FORMAT) != VERSION:
        raise _wrong(_("A recipe begins with “%(mark)s: 1”; a campaign's page has one.") % {"mark": FORMAT})
    shape = RecipeShape(data=data)
    if not shape.is_valid():
        raise ValidationError(dict(_flat(shape.errors, "recipe")))
    return shape.validated_data


def _refuse_traps(text: str) -> None:
    """Refuse a text of which a few lines stand for gigabytes, or for a depth that takes minutes to read."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise _wrong(_("A recipe holds no anchors and aliases: write each value out."))
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise _wrong(_("The file is nested too deeply for a recipe."))


def _wrong(text: str) -> ValidationError:
    return ValidationError({"recipe": [text]})


def _flat(errors: Any, place: str) -> Iterable[tuple[str, list[str]]]:
    """Yield (dotted place, texts) of nested errors."""
    if isinstance(errors, Mapping):
        for name, found in errors.items():
            yield from _flat(found, f"{place}.{name}")
    elif isinstance(errors, list) and any(isinstance(found, Mapping) for found in errors):
        for number, found in enumerate(errors):
            yield from _flat(found, f"{place}.{number}")
    elif errors:
        yield place, [str(text) for text in errors]
