"""What stands in the way of a deletion is named to who may read its name; of the rest only the kind is told."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from typing import Any

from django.db.models import Model
from django.utils.translation import gettext as _

# Of rows by their ids those that a person may read.
Seen = Callable[[Collection[Any], Any], set[Any]]

_seen: dict[str, Seen] = {}


class Withheld:
    """Something of a kind that the reader may not see: it has no name and no page."""

    pk = None

    def __init__(self, item: Model) -> None:
        self._meta = item._meta

    def __str__(self) -> str:
        return _("one that is not shown to you")


def register(model: type[Model], seen: Seen) -> None:
    """Have rows of a model asked for who may read them."""
    _seen[model._meta.label] = seen


def shown(objects: Iterable[Model], user: Any) -> list[Any]:
    """Return the objects, for those that the user may not read one Withheld of each kind; one question a kind."""
    rows = list(objects)
    ids: dict[str, set[Any]] = defaultdict(set)
    for item in rows:
        ids[item._meta.label].add(item.pk)
    readable_ids = {label: _seen[label](keys, user) for label, keys in ids.items() if label in _seen}
    withheld: dict[str, Withheld] = {}
    readable: list[Any] = []
    for item in rows:
        label = item._meta.label
        if label not in readable_ids or item.pk in readable_ids[label]:
            readable.append(item)
        elif label not in withheld:
            withheld[label] = Withheld(item)
    return [*readable, *withheld.values()]
