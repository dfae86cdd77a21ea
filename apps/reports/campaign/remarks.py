"""The column that says which figures of a row are flagged, and with what: at the end of every table of figures."""

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _

from apps.reports.document import Column, Value
from apps.results.doubts import Mark

Marks = Mapping[str, Mark | None]


def add_to(columns: list[Column], rows: Sequence[list[Value]], marks: Sequence[Marks]) -> None:
    """Add the column to a table in the making, if any row has a mark; `marks` are those of each row by metric."""
    texts = [text_of(of_row) for of_row in marks]
    if not any(texts):
        return
    columns.append(Column(_("Remark")))
    for row, text in zip(rows, texts, strict=True):
        row.append(text or None)


def text_of(marks: Marks) -> str:
    """Return what is flagged of several metrics' figures; the metrics are named unless all are marked alike."""
    texts = {metric: mark.text for metric, mark in marks.items() if mark}
    if len(set(texts.values())) == 1 and len(texts) == len(marks):
        return next(iter(texts.values()))
    return " ".join(f"{metric}: {text}." for metric, text in texts.items())
