"""Filters of lists over REST: a value that names nothing of the person's is refused, never answered by an empty list.

What a list itself holds is asked for by its exact text (`name`, `username`): that there is none is an answer.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_filters import rest_framework as filters

from apps.accounts import queries, rights
from apps.accounts.models import User
from apps.core import contract


class RowFilter(filters.ModelChoiceFilter):
    """Rows that refer to the one of a number, of those that `rows` gives for whoever asks."""

    def __init__(self, rows: Callable[[User], QuerySet], **kwargs: Any) -> None:
        words = {"invalid_choice": gettext_lazy("There is none of this number here.")}
        super().__init__(queryset=partial(_rows_of, rows), error_messages=words, **kwargs)

    def get_queryset(self, request: HttpRequest | None) -> QuerySet | None:
        """Return the rows to choose from; where none is named there is nothing to put together."""
        if request is not None and not any(self is item for item in self._asked_for()):
            nothing: QuerySet = self.model._default_manager.none()
            return nothing
        rows: QuerySet | None = super().get_queryset(request)
        return rows

    def _asked_for(self) -> Iterable[filters.Filter]:
        return (item for name, item in self.parent.filters.items() if name in self.parent.data)

    def filter(self, qs: QuerySet, value: Any) -> QuerySet:
        """Return the rows that refer to it."""
        rows: QuerySet = super().filter(qs, getattr(value, "pk", value))
        return rows


class NameField(forms.CharField):
    """A text that `is_known`; any other is refused with the nearest of `names`."""

    def __init__(
        self, *args: Any, names: Callable[[], Iterable[str]], is_known: Callable[[str], bool], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.names, self.is_known = names, is_known

    def clean(self, value: Any) -> str:
        """Return the text; ValidationError names the nearest, or what there is."""
        text: str = super().clean(value)
        if text and text not in (names := set(self.names())) and not self.is_known(text):
            raise forms.ValidationError(contract.no_such(text, names, _("There is no such one here.")))
        return text


class NameFilter(filters.CharFilter):
    """Rows that refer to something by its name, one of those that `names` gives for whoever asks.

    A name that rows of the list have is known, too: what they refer to may be archived, or of another team.
    """

    field_class = NameField

    def __init__(self, field_name: str, names: Callable[[User], Iterable[str]], **kwargs: Any) -> None:
        super().__init__(field_name, **kwargs)
        self.names = names

    @property
    def field(self) -> forms.Field:
        """Return the field, which knows who asks."""
        self.extra |= {"names": partial(self.names, rights.user_of(self.parent.request)), "is_known": self._is_held}
        field: forms.Field = super().field
        return field

    def _is_held(self, text: str) -> bool:
        rows: QuerySet = self.parent.queryset
        return rows.order_by().filter(**{self.field_name: text}).exists()


def team_filter(field_name: str = "team__slug", **kwargs: Any) -> NameFilter:
    """Return the filter by a team's short name."""
    return NameFilter(field_name, lambda user: queries.teams_of(user).values_list("slug", flat=True), **kwargs)


def _rows_of(rows: Callable[[User], QuerySet], request: HttpRequest | None) -> QuerySet | None:
    """Return the rows of whoever asks; in a schema nobody does."""
    return rows(rights.user_of(request)) if request is not None else None
