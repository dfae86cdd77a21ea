"""Questions that stand within others again and again, put into SQL once."""

from typing import Any

from django.db.models import QuerySet
from django.db.models.expressions import RawSQL


def prepared(rows: QuerySet[Any, Any]) -> RawSQL:
    """Return rows of one column as they stand behind `__in`: a constant for Django, which it need not look into.

    The database asks it anew each time. It may name nothing of the question that it stands in (`OuterRef`).
    """
    sql, params = rows.order_by().query.sql_with_params()
    # Written by Django, the values apart.
    return RawSQL(sql, params)  # noqa: S611
