"""The filters of lists over REST."""

from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request


class RowFilters(DjangoFilterBackend):
    """Filters by what a view's set of filters takes; what it does not take is refused by the parameter's name."""

    def filter_queryset(self, request: Request, queryset: QuerySet, view: Any) -> QuerySet:
        """Return the rows that are asked for; a ValidationError for what cannot be."""
        filters = self.get_filterset(request, queryset, view)
        if filters is None:
            return queryset
        if not filters.is_valid():
            # django-filter puts values into texts of errors once more, also where these quote a "%" that was typed.
            raise ValidationError({name: list(texts) for name, texts in filters.errors.items()})
        rows: QuerySet = filters.qs
        return rows
