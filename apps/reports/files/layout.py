"""How a table stands on a page: what its cells say, how wide its columns are, and whether the page is turned."""

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

from django.utils.translation import gettext

from apps.reports.document import Column, Table, TextLink, Value
from apps.reports.files import cells, imprints
from apps.reports.files.base import Imprint

# The room between the margins of A4 (pt), upright and turned.
UPRIGHT_PT, TURNED_PT = 481.0, 739.0
LARGEST_PT, SMALLEST_PT = 8.5, 5.5
# An upright page is turned before the letters of a table are smaller than this; not for a few rows.
READABLE_PT = 6.8
FEW_ROWS = 12
# A table of so few rows, and no more letters than these, stands on one page.
WHOLE_ROWS, WHOLE_LETTERS = 8, 1500
# Of a letter at a size: about how wide it is, those of CJK scripts twice that.
_LETTER = 0.56
_PADDING_PT = 6.0
# A column asks for room for so many letters at most, and wraps what is longer; earlier before the page is turned.
_LONGEST, _SHORTEST = (32, 22), 3
# Heads are bold.
_BOLD = 1.15
# Between a number, which stands at the right, and a text behind it.
_GAP_PT = 8.0
_BREAK, _UNBROKEN = "\u200b", "\u00a0"
_BRACKETS = re.compile(r"\([^()]{1,12}\)")
PT_PER_PIXEL = 0.75
_SVG_WIDTH = re.compile(r'<svg\b[^<>]*?\swidth="(\d{1,6}(?:\.\d{1,6})?)(?:px)?"')


def table_of(table: Table, number: str, imprint: Imprint, most_cells: int) -> dict[str, Any]:
    """Return a table as the program sets it, with as many of its first rows as hold `most_cells`."""
    maximum = max(most_cells // max(len(table.columns), 1), 1)
    rows = table.rows[:maximum]
    texts = [[cells.text_of(value, column) for value, column in _paired(row, table)] for row in rows]
    heads = [_head(column) for column in table.columns]
    gaps = [
        _GAP_PT if before and before.kind == "number" and column.kind != "number" else 0.0
        for before, column in zip((None, *table.columns), table.columns, strict=False)
    ]
    for longest in _LONGEST:
        widths = [
            max(
                min(
                    max(
                        (
                            *(_BOLD * cells.width(word) for word in head.split(" ")),
                            *(cells.width(row[place]) for row in texts),
                        )
                    ),
                    longest,
                ),
                _SHORTEST,
            )
            for place, head in enumerate(heads)
        ]
        size, wide = _fit(widths, sum(gaps), len(rows))
        if not wide:
            break
    room = [max(int(width), _SHORTEST) for width in widths]
    return {
        "type": "table",
        "number": number,
        "caption": table.caption,
        "heads": heads,
        "aligns": ["right" if column.kind == "number" else "left" for column in table.columns],
        "gaps": gaps,
        "weights": [width * _LETTER * size + _PADDING_PT + gap for width, gap in zip(widths, gaps, strict=True)],
        "rows": [
            [
                _cell(value, breakable(text, maximum), imprint)
                for value, text, maximum in zip(row, line, room, strict=True)
            ]
            for row, line in zip(rows, texts, strict=True)
        ],
        "notes": [note for note in (table.note, cells.more_rows(table), _left_out(table, len(rows))) if note],
        "size": size,
        "wide": wide,
        "whole": len(rows) <= WHOLE_ROWS and sum(map(len, chain(*texts))) <= WHOLE_LETTERS,
    }


def share_of_page(svg: str) -> float:
    """Return how much of the width between the margins a drawing takes, in per cent: its own, all at most."""
    match = _SVG_WIDTH.search(svg)
    return round(min(100.0, 100 * PT_PER_PIXEL * float(match[1]) / UPRIGHT_PT), 2) if match else 100.0


def breakable(text: str, maximum: int) -> str:
    """Return a text whose words may be broken after every `maximum` letters."""
    if len(text) <= maximum or all(len(word) <= maximum for word in text.split()):
        return text
    return " ".join(
        _BREAK.join(word[start : start + maximum] for start in range(0, len(word), maximum))
        for word in text.split(" ")
    )


def _paired(row: Sequence[Value | TextLink], table: Table) -> list[tuple[Value | TextLink, Column]]:
    return list(zip(row, table.columns, strict=True))


def _head(column: Column) -> str:
    """Return what stands over a column; what it says in brackets, such as a unit, stands on one line."""
    return _BRACKETS.sub(lambda bracket: bracket[0].replace(" ", _UNBROKEN), cells.head_of(column))


def _fit(widths: list[float], gaps: float, count: int) -> tuple[float, bool]:
    """Return the size (pt) of a table's letters, and whether the page is turned for it."""
    letters = sum(widths) * _LETTER
    padding = len(widths) * _PADDING_PT + gaps
    upright = (UPRIGHT_PT - padding) / letters if letters else LARGEST_PT
    if upright >= (SMALLEST_PT if count <= FEW_ROWS else READABLE_PT):
        return round(min(upright, LARGEST_PT), 2), False
    turned = (TURNED_PT - padding) / letters
    return round(max(min(turned, LARGEST_PT), SMALLEST_PT), 2), True


def _cell(value: Value | TextLink, text: str, imprint: Imprint) -> str | dict[str, str]:
    address = imprints.address_of(value.ref, imprint) if isinstance(value, TextLink) else ""
    return {"text": text, "url": address} if address else text


def _left_out(table: Table, count: int) -> str:
    if count == len(table.rows):
        return ""
    counts = {"shown": f"{count:,}", "total": f"{len(table.rows):,}"}
    return gettext("Here stand the first %(shown)s of %(total)s rows; the spreadsheet and the CSV have all.") % counts
