"""What a list over REST may be filtered by is looked for only where somebody names it."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.urls import URLResolver, get_resolver

from apps.accounts.filters import RowFilter
from tests import factories

pytestmark = pytest.mark.django_db


def filtersets(resolver: URLResolver) -> Iterator[Any]:
    """Yield the set of filters of each list."""
    for item in resolver.url_patterns:
        if isinstance(item, URLResolver):
            yield from filtersets(item)
        elif found := getattr(getattr(item.callback, "cls", None), "filterset_class", None):
            yield found


def test_rows_that_nobody_names_are_not_asked_for(cast: factories.Cast) -> None:
    request = SimpleNamespace(user=cast.bob)
    sets = dict.fromkeys(filtersets(get_resolver()))
    rows = [(kind, name) for kind in sets for name, item in kind.base_filters.items() if isinstance(item, RowFilter)]
    assert len(rows) > 10
    for kind, name in rows:
        unnamed, named = (kind(data, request=request).filters[name].field.queryset for data in ({}, {name: "1"}))
        assert unnamed.query.is_empty(), (kind, name)
        assert not named.query.is_empty(), (kind, name)
