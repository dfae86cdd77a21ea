"""A document's cells and numbered captions as text, the same in every format that shows text."""

import math
import unicodedata
from datetime import UTC, datetime, timedelta

from django.utils.translation import gettext

from apps.reports.document import Column, Document, Drawing, Figure, Paragraph, Part, Table, TextLink, Value, walk

UNKNOWN = "–"
# Smaller figures than this are written with an exponent, larger ones than the other with blanks for nobody to count.
_TINY = 1e-4
_GROUPED_FROM = 10_000
# A capital is so much wider than a small letter.
_CAPITAL = 0.2


def text_of(value: Value | TextLink, column: Column) -> str:
    """Return a cell as text, numbers without their unit, which stands in the column's head."""
    if value is None:
        return UNKNOWN
    if isinstance(value, TextLink):
        return value.text
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, int | float):
        return number(value, column.digits)
    moment = moment_of(value) if column.kind == "time" else None
    return value if moment is None else time_text(moment)


def number(value: float, digits: int = 4) -> str:
    """Return a number with so many digits that count, all those before the point, and none that only pad."""
    if isinstance(value, float) and not math.isfinite(value):
        return UNKNOWN
    if value and abs(value) < _TINY:
        return f"{value:.{max(digits, 1) - 1}e}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0
    text = f"{value:,.{decimals}f}" if abs(value) >= _GROUPED_FROM else f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def moment_of(text: str) -> datetime | None:
    """Return the moment of an ISO 8601 text, in UTC unless it says otherwise; None if it is another text."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def time_text(moment: datetime) -> str:
    """Return a moment to the minute with its zone: ISO order, which means the same to every reader."""
    offset = moment.utcoffset() or timedelta(0)
    return f"{moment:%Y-%m-%d %H:%M} {'UTC' if not offset else f'{moment:%z}'}"


def width(text: str) -> float:
    """Return about how many small Latin letters wide a text is; capitals and CJK scripts take more room."""
    capitals = _CAPITAL * sum(map(str.isupper, text))
    if text.isascii():
        return len(text) + capitals
    return sum(1.75 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text) + capitals


def parts_of(paragraph: Paragraph) -> tuple[Part, ...]:
    """Return the parts of a paragraph, marked where its author wrote them."""
    return (*paragraph.parts, f" {author_mark()}") if paragraph.is_authors else paragraph.parts


def sentence_of(figure: Figure) -> str:
    """Return what is said of a figure, marked where its author wrote it."""
    return f"{figure.sentence} {author_mark()}" if figure.is_authors else figure.sentence


def author_mark() -> str:
    """Return what stands behind words that the author typed: the service did not check them."""
    return gettext("[the author's words]")


def head_of(column: Column) -> str:
    """Return what stands over a column, its unit in brackets."""
    return f"{column.title} ({column.unit})" if column.unit else column.title


def more_rows(table: Table) -> str:
    """Return the sentence that a table shows the first of many rows; "" if it has all."""
    if table.total <= len(table.rows):
        return ""
    counts = {"shown": f"{len(table.rows):,}", "total": f"{table.total:,}"}
    return gettext("The first %(shown)s of %(total)s rows are shown.") % counts


def numbers_of(document: Document) -> dict[int, str]:
    """Return {id(block): "Figure 3"} for the figures, drawings and tables, each kind numbered as it comes."""
    names: dict[int, str] = {}
    figures = tables = 0
    for block in walk(document):
        if isinstance(block, Figure | Drawing):
            figures += 1
            names[id(block)] = gettext("Figure %(number)s") % {"number": figures}
        elif isinstance(block, Table):
            tables += 1
            names[id(block)] = gettext("Table %(number)s") % {"number": tables}
    return names
