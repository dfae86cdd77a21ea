"""Questions that stand within others again and again, put into SQL once."""

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL


def prepared(rows: QuerySet[Any, Any]) -> RawSQL:
    """Return rows of one column as they stand behind `__in`: a constant for Django, which it need not look into.

    The database asks it anew each time. It may name nothing of the question that it stands in (`OuterRef`). What
    Django knows to have no rows (`x__in=[]`), and gives no SQL for, is a question without rows.
    """
    try:
        sql, params = rows.order_by().query.sql_with_params()
    except EmptyResultSet:
        sql, params = "SELECT NULL WHERE FALSE", ()
    # Written by Django, the values apart.
    return RawSQL(sql, params)  # noqa: S611
