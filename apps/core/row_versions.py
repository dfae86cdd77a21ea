"""Whether rows are those that they were: by the versions that the database itself gives them, whoever wrote them."""

from typing import Any

from django.db.models import CharField, Count, DecimalField, QuerySet, Sum, Value
from django.db.models.expressions import RawSQL


def versions_of(*rows: QuerySet[Any]) -> list[tuple[str, int, str]]:
    """Return for each set with rows its table, how many there are, and a sum that any change of one of them changes.

    A version is where the row lies and which transaction wrote it, so that nothing long is read. All are asked for at
    once.
    """
    sums = [_versions(queryset) for queryset in rows]
    if not sums:
        return []
    united = sums[0].union(*sums[1:], all=True) if len(sums) > 1 else sums[0]
    return sorted((table, number, str(versions)) for table, number, versions in united)


def _versions(rows: QuerySet[Any]) -> QuerySet[Any, tuple[str, int, Any]]:
    name = rows.model._meta.db_table
    # The table's name is the model's.
    version = RawSQL(  # noqa: S611
        f'hashtextextended(concat("{name}".ctid, \' \', "{name}".xmin), 0)::numeric',
        (),
        output_field=DecimalField(max_digits=40, decimal_places=0),
    )
    grouped = rows.order_by().annotate(table_name=Value(name, output_field=CharField())).values("table_name")
    return grouped.annotate(number=Count("pk"), versions=Sum(version)).values_list("table_name", "number", "versions")
