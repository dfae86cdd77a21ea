"""How a table stands on a page: what its cells say, how wide its columns are, and whether the page is turned."""

import re
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext

from apps.reports.document import Column, Link, Table, Value
from apps.reports.rendering import cells, imprints
from apps.reports.rendering.base import Imprint

# The room between the margins of A4 (pt), upright and turned.
UPRIGHT_PT, TURNED_PT = 481.0, 739.0
LARGEST_PT, SMALLEST_PT = 8.5, 5.5
# An upright page is turned before the letters of a table are smaller than this; not for a few rows.
READABLE_PT = 7.0
FEW_ROWS = 12
# Of a letter at a size: about how wide it is, those of CJK scripts twice that.
_LETTER = 0.56
_PADDING_PT = 6.0
# A column asks for room for so many letters at most, and wraps what is longer.
_LONGEST, _SHORTEST = 32, 3
_BREAK = "\u200b"
PT_PER_PIXEL = 0.75
_SVG_WIDTH = re.compile(r'<svg\b[^>]*?\swidth="(\d{1,6}(?:\.\d{1,6})?)(?:px)?"')


def table_of(table: Table, number: str, imprint: Imprint, most_cells: int) -> dict[str, Any]:
    """Return a table as the program sets it, with as many of its first rows as hold `most_cells`."""
    most = max(most_cells // max(len(table.columns), 1), 1)
    shown = table.rows[:most]
    texts = [[cells.text_of(value, column) for value, column in _paired(row, table)] for row in shown]
    heads = [cells.head_of(column) for column in table.columns]
    widths = [
        min(max(map(cells.width, (*_words(head), *(row[place] for row in texts)))), _LONGEST)
        for place, head in enumerate(heads)
    ]
    size, wide = _fit(widths, len(shown))
    room = [max(int(width), _SHORTEST) for width in widths]
    return {
        "type": "table",
        "number": number,
        "caption": table.caption,
        "heads": heads,
        "aligns": ["right" if column.kind == "number" else "left" for column in table.columns],
        "weights": [max(width, _SHORTEST) * _LETTER * size + _PADDING_PT for width in widths],
        "rows": [
            [_cell(value, breakable(text, most), imprint) for value, text, most in zip(row, said, room, strict=True)]
            for row, said in zip(shown, texts, strict=True)
        ],
        "notes": [note for note in (table.note, cells.more_rows(table), _left_out(table, len(shown))) if note],
        "size": size,
        "wide": wide,
    }


def share_of_page(svg: str) -> float:
    """Return how much of the width between the margins a drawing takes, in per cent: its own, all at most."""
    found = _SVG_WIDTH.search(svg)
    return round(min(100.0, 100 * PT_PER_PIXEL * float(found[1]) / UPRIGHT_PT), 2) if found else 100.0


def breakable(text: str, most: int) -> str:
    """Return a text whose words may be broken after every `most` letters."""
    if len(text) <= most or all(len(word) <= most for word in text.split()):
        return text
    return " ".join(
        _BREAK.join(word[start : start + most] for start in range(0, len(word), most)) for word in text.split(" ")
    )


def _paired(row: Sequence[Value | Link], table: Table) -> list[tuple[Value | Link, Column]]:
    return list(zip(row, table.columns, strict=True))


def _words(text: str) -> list[str]:
    return text.split() or [""]


def _fit(widths: list[float], count: int) -> tuple[float, bool]:
    """Return the size (pt) of a table's letters, and whether the page is turned for it."""
    letters = sum(max(width, _SHORTEST) for width in widths) * _LETTER
    padding = len(widths) * _PADDING_PT
    upright = (UPRIGHT_PT - padding) / letters if letters else LARGEST_PT
    if upright >= (SMALLEST_PT if count <= FEW_ROWS else READABLE_PT):
        return round(min(upright, LARGEST_PT), 2), False
    turned = (TURNED_PT - padding) / letters
    return round(max(min(turned, LARGEST_PT), SMALLEST_PT), 2), True


def _cell(value: Value | Link, text: str, imprint: Imprint) -> str | dict[str, str]:
    address = imprints.address_of(value.ref, imprint) if isinstance(value, Link) else ""
    return {"text": text, "url": address} if address else text


def _left_out(table: Table, shown: int) -> str:
    if shown == len(table.rows):
        return ""
    counts = {"shown": f"{shown:,}", "total": f"{len(table.rows):,}"}
    return gettext("Here stand the first %(shown)s of %(total)s rows; the spreadsheet and the CSV have all.") % counts
