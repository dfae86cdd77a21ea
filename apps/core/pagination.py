"""Pages of the REST interface, and the order that they are in."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.core.exceptions import ValidationError as TooMuch
from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.core import contract, row_sizes, search

# Rows that PostgreSQL sorts or passes at no cost to speak of.
FEW = 10_000


class WordSearch(SearchFilter):
    """Words to look for, where there are texts to look in."""

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Return the parameter, none where nothing is searched."""
        if not getattr(view, "search_fields", None):
            return []
        (described,) = super().get_schema_operation_parameters(view)
        text = (
            f"Words, all of which a row holds; quotes hold several together. At most {search.MOST_WORDS} words,"
            " without those that stand in others."
        )
        return [described | {"description": text, "schema": {"type": "string", "maxLength": search.LONGEST}}]

    def get_search_terms(self, request: Request) -> list[str]:
        """Return the words; a ValidationError for more than is looked for."""
        try:
            return search.words_of(request.query_params.get(self.search_param, ""))
        except TooMuch as error:
            raise ValidationError({self.search_param: error.messages}) from None


class TotalOrdering(OrderingFilter):
    """The order that is asked for, and among equals by number: no row is on two pages or on none."""

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Return the parameter with the names that it takes, none where the order is always the same."""
        names = getattr(view, "ordering_fields", None)
        if not names:
            return []
        (described,) = super().get_schema_operation_parameters(view)
        listed = ", ".join(names)
        return [described | {"description": f"By {listed}; several with commas; “-” before a name turns it round."}]

    def remove_invalid_fields(
        self, queryset: QuerySet[Model], fields: Iterable[str], view: APIView, request: Request
    ) -> list[str]:
        """Return the names; a ValidationError for one by which nothing is ordered here."""
        # By a name that stood there before nothing is ordered any more.
        names = list({name.removeprefix("-"): name for name in reversed(list(fields))}.values())[::-1]
        valid_names = [name for name, _label in self.get_valid_fields(queryset, view, {"request": request})]
        for name in names:
            if name.removeprefix("-") not in valid_names:
                text = contract.no_such(name.removeprefix("-"), valid_names, _("Nothing is ordered by this here."))
                raise ValidationError({str(self.ordering_param): [text]})
        return names

    def get_ordering(self, request: Request, queryset: QuerySet[Model], view: APIView) -> Sequence[str] | None:
        """Return the names of the fields to order by."""
        names = super().get_ordering(request, queryset, view)
        return [*names, "pk"] if names and not {"id", "-id", "pk", "-pk"}.intersection(names) else names


class LongPaginator(Paginator):
    """Pages of rows in a total order, which cost little in a list of millions, too.

    PostgreSQL reads and sorts every row before a page, with all that is joined to it. Of a long list only the keys
    are read so, from the end that is nearer, and then the rows of the page.
    """

    def page(self, number: Any) -> Page:
        """Return a page; InvalidPage if there is none of this number."""
        number = self.validate_number(number)
        rows = self.object_list
        if not isinstance(rows, QuerySet) or self.count <= FEW:
            return super().page(number)
        first = (number - 1) * self.per_page
        last = min(first + self.per_page, self.count)
        keys = rows.values_list("pk", flat=True)
        wanted = list(keys[first:last]) if first < self.count // 2 else self._from_the_end(keys, first, last)
        rows_by_key = rows.in_bulk(wanted)
        # One may be gone by now.
        return Page([rows_by_key[key] for key in wanted if key in rows_by_key], number, self)

    def _from_the_end(self, keys: QuerySet[Any, Any], first: int, last: int) -> list[Any]:
        wanted = list(keys.reverse()[self.count - last : self.count - first])
        if keys.count() != self.count:
            # Rows came meanwhile: the end is not where it was when they were counted.
            return list(keys[first:last])
        return wanted[::-1]


class Pages(PageNumberPagination):
    """Numbered pages of 50; `page_size` asks for up to 1,000, and gets fewer where a row may be long.

    It is no error to ask for more: a script that reads on at `next` need not know which lists these are.
    """

    django_paginator_class = LongPaginator
    page_size_query_param = "page_size"
    max_page_size = 1000
    most_rows = max_page_size

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> Any:
        """Return the rows of the page asked for."""
        self.most_rows = row_sizes.most_rows(type(view)) if view is not None else self.max_page_size
        return super().paginate_queryset(queryset, request, view)

    def get_page_number(self, request: Request, paginator: Paginator) -> Any:
        """Return the number of the page asked for; a ValidationError for what is no number."""
        text = str(super().get_page_number(request, paginator))
        if not text.isdecimal():
            raise ValidationError({self.page_query_param: [_("Give the number of a page, or “last”.")]})
        return text

    def get_page_size(self, request: Request) -> int | None:
        """Return how many rows a page has; a ValidationError for a size that no page can have."""
        text = request.query_params.get(self.page_size_query_param, "")
        if not text:
            return self.page_size
        if not text.isdecimal() or not 1 <= int(text[:9]) <= self.max_page_size:
            most = _("Give a number from 1 to %(most)s.") % {"most": self.max_page_size}
            raise ValidationError({self.page_size_query_param: [most]})
        return min(int(text), self.most_rows)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Return the parameters with their bounds."""
        size: dict[str, Any] = {"schema": {"type": "integer", "minimum": 1, "maximum": self.max_page_size}}
        if (most := row_sizes.most_rows(type(view))) < self.max_page_size:
            text = f"Number of results to return per page. A page has {most} at most; `next` leads to the rest."
            size["description"] = text
        own = {
            self.page_query_param: {"schema": {"oneOf": [{"type": "integer", "minimum": 1}, {"enum": ["last"]}]}},
            self.page_size_query_param: size,
        }
        return [item | own[item["name"]] for item in super().get_schema_operation_parameters(view)]
