"""Lists and pages of one thing."""

from functools import cached_property
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.views import generic

from apps.accounts import rights
from apps.accounts.models import Role
from apps.accounts.pages.base import TeamPage
from apps.core.forms import word_errors
from apps.core.search import ListSearch


class ListPage(TeamPage, generic.ListView):
    """A list: search (`q` over `search_fields`), `filterset_class`, team, order (`sort`), 50 a page."""

    paginate_by = 50
    search_fields: tuple[str, ...] = ("name",)
    sortable: tuple[str, ...] = ()
    filterset_class: type[Any] | None = None
    filterset: Any = None

    def get_queryset(self) -> QuerySet:
        """Return the rows that were asked for."""
        rows = super().get_queryset()
        if self.team_slug:
            rows = rows.filter(**{f"{self.team_path}__slug": self.team_slug})
        rows = self.search.of(rows, self.search_fields)
        if self.filterset_class:
            self.filterset = self.filterset_class(self.request.GET, queryset=rows, request=self.request)
            for field in self.filterset.form.fields.values():
                word_errors(field)
            rows = self.filterset.qs
        return rows.order_by(self.sort, "pk") if self.sort else rows

    @cached_property
    def search(self) -> ListSearch:
        """Return the search, each word of which a row must hold."""
        return ListSearch(self.request.GET.get("q", "") if self.search_fields else "")

    @cached_property
    def team_slug(self) -> str:
        """Return the short name of the only team asked for, or ""."""
        return self.request.GET.get("team", "").replace("\0", "")

    @cached_property
    def sort(self) -> str:
        """Return the field to sort by, with "-" for descending, if it is one of `sortable`."""
        wanted = self.request.GET.get("sort", "")
        return wanted if wanted.removeprefix("-") in self.sortable else ""

    def paginate_queryset(self, queryset: Any, page_size: int) -> tuple[Paginator, Page, Any, bool]:
        """Return the page asked for, the nearest one where there is no such page."""
        paginator = self.get_paginator(queryset, page_size)
        page = paginator.get_page(self.request.GET.get("page"))
        return paginator, page, page.object_list, page.has_other_pages()

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add what was searched for, and the teams to choose from."""
        context = super().get_context_data(**kwargs)
        return context | {
            "filterset": self.filterset,
            "searchable": bool(self.search_fields),
            "search": self.search,
            "sort": self.sort,
            "teams": list(rights.teams_for(self.request.user, Role.VIEWER)),
            "team_slug": self.team_slug,
            "narrowed": any(value for name, value in self.request.GET.items() if name not in ("page", "sort")),
        }


class DetailPage(TeamPage, generic.DetailView):
    """One thing."""
