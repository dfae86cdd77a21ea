"""The column that says of a row which figures are flagged, and which intervals cut: at the end of every table."""

from collections.abc import Collection, Mapping, Sequence

from django.utils.translation import gettext as _

from apps.reports.document import Column, Value
from apps.results import intervals
from apps.results.doubts import Mark

Marks = Mapping[str, Mark | None]


def add_to(
    columns: list[Column], rows: Sequence[list[Value]], marks: Sequence[Marks], cut: Sequence[Collection[str]] = ()
) -> None:
    """Add the column to a table in the making, if any row has a mark; `marks` are those of each row by metric.

    `cut` are the metrics of each row whose interval is cut where no figure can lie: `note_of` says what that is.
    """
    texts = [text_of(of_row) for of_row in marks]
    if cut:
        texts = [" ".join(filter(None, (text, _of_cut(own)))) for text, own in zip(texts, cut, strict=True)]
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


def note_of(note: str, cut: Sequence[Collection[str]]) -> str:
    """Return a table's note with what is said of intervals that are cut, where any row has one."""
    return f"{note} {intervals.cut_note()}".strip() if any(cut) else note


def _of_cut(metrics: Collection[str]) -> str:
    return _("%(metrics)s: interval cut.") % {"metrics": ", ".join(metrics)} if metrics else ""
