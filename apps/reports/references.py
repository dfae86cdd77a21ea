"""Who may read which report where it stands in the way of a deletion."""

from collections.abc import Collection
from typing import Any

from apps.core import withheld
from apps.reports import queries
from apps.reports.models import Report


def _seen(ids: Collection[Any], user: Any) -> set[Any]:
    return set(queries.reports_for(user).filter(pk__in=ids).order_by().values_list("pk", flat=True))


withheld.register(Report, _seen)
