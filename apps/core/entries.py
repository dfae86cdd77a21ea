"""How many entries a list or an object of names may have that comes in a request, and rows that a list refers to.

Whatever is done for each entry is done while who sent it waits, and holds one of a few connections meanwhile.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.relations import MANY_RELATION_KWARGS

# Unless the field itself sets another `max_length`.
MOST_ENTRIES = 3000
# The largest number of a row.
_LARGEST = 2**63 - 1

_LISTS = (serializers.ListSerializer, serializers.ListField, serializers.ManyRelatedField)


def most_of(field: Any) -> int | None:
    """Return how many entries a field of a REST body takes, None for one that takes no list and no names."""
    if field.read_only or not isinstance(field, (*_LISTS, serializers.DictField)):
        return None
    own: int | None = getattr(field, "max_length", None)
    return MOST_ENTRIES if own is None else own


def too_many(most: int) -> str:
    """Return why a list is refused."""
    return _("At most %(most)s entries are taken here: send the rest in another request.") % {"most": most}


class Referring(serializers.RelatedField):
    """A reference to a row by `lookup`, of which those of a list are read together, by one query.

    Stands before a class of REST framework that reads one by itself.
    """

    lookup = "pk"
    _known: Mapping[Hashable, Any] | None = None

    @classmethod
    def many_init(cls, *args: Any, **kwargs: Any) -> serializers.ManyRelatedField:
        """Return the field of a list of such references."""
        own = {name: kwargs[name] for name in MANY_RELATION_KWARGS if name in kwargs}
        return ReferringList(child_relation=cls(*args, **kwargs), **own)

    def read_together(self, given: Iterable[Any]) -> None:
        """Read the rows that any of these refer to; what is none refers to nothing."""
        keys = {key for item in given if (key := self._key_of(item)) is not None}
        rows: Any = self.get_queryset()
        found = rows.filter(**{f"{self.lookup}__in": keys}) if keys else ()
        self._known = {getattr(row, self.lookup): row for row in found}

    def to_internal_value(self, data: Any) -> Any:
        """Return the row; a number with a fraction, or beyond all numbers, is no id."""
        if self.lookup == "pk" and isinstance(data, float):
            self.fail("incorrect_type", data_type="float")
        key = self._key_of(data)
        if self._known is None or key is None:
            return super().to_internal_value(data)
        if key not in self._known:
            self.fail("does_not_exist", pk_value=data, slug_name=self.lookup, value=data)
        return self._known[key]

    def _key_of(self, data: Any) -> Hashable | None:
        """Return what a row is found by; None for what REST framework refuses without looking for a row."""
        if self.lookup != "pk":
            return data if isinstance(data, str) else None
        if isinstance(data, bool) or not isinstance(data, int | str):
            return None
        try:
            number = int(data)
        except ValueError:
            return None
        return number if 0 <= number <= _LARGEST else -1


class ReferringList(serializers.ManyRelatedField):
    """Several references: their rows, each once, in the order given."""

    child_relation: Any

    def to_internal_value(self, data: Any) -> list[Any]:
        """Return the rows; the errors are those of each entry."""
        if isinstance(data, list):
            self.child_relation.read_together(data)
        return list(dict.fromkeys(super().to_internal_value(data)))


class ReferringRows(serializers.ListSerializer):
    """Several objects whose references are read together: `list_serializer_class` of what has some."""

    child: Any

    def to_internal_value(self, data: Any) -> Any:
        """Return the entries' values, with what they refer to read in one query for each field."""
        for name, field in self.child.fields.items():
            if isinstance(field, Referring) and not field.read_only and isinstance(data, list):
                field.read_together(item.get(name) for item in data if isinstance(item, Mapping))
        return super().to_internal_value(data)
