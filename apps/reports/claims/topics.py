"""What a table holds of a topic: its places with their figures, as a sentence speaks of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.bench import units
from apps.reports.columns import size_of
from apps.reports.document import Table, TextLink, Topic, Value

# What stands between the parts of a place's name.
BETWEEN = " – "


class Unanswered(LookupError):
    """The document has no such table, column or row: nothing can be claimed of it."""


@dataclass(frozen=True)
class Place:
    """A row: what it is called, its number on the axis (None: a word), its cell, and the figures behind that cell.

    `y` and `figures` are in the base unit; `row` are all its cells.
    """

    text: str
    x: float | None
    y: float
    figures: Sequence[float]
    row: Sequence[Value | TextLink]


def places_of(topic: Topic, table: Table) -> list[Place]:
    """Return the rows of a topic that have a figure, in the table's order; Unanswered if the table is another."""
    columns = [topic.of, *topic.by, *(column for column, _text in topic.rows)]
    if max(columns) >= len(table.columns):
        raise Unanswered(topic.table)
    size = size_of(table.columns[topic.of].unit, topic.unit)
    behind = table.figures or {}
    figures, numbers = behind.get(str(topic.of)), behind.get(str(topic.by[0])) if len(topic.by) == 1 else None
    places = []
    for number, row in enumerate(table.rows):
        y = row[topic.of]
        is_meant = all(text_of(row[column]) == text for column, text in topic.rows)
        if not is_meant or not isinstance(y, int | float):
            continue
        places.append(
            Place(
                text=BETWEEN.join(text_of(row[column]) for column in topic.by),
                x=numbers[number][0] if numbers and numbers[number] else None,
                y=float(y) * size,
                figures=tuple(value * size for value in figures[number]) if figures else (),
                row=row,
            )
        )
    return places


def text_of(cell: Value | TextLink) -> str:
    """Return what a cell says, as topics and sentences name it."""
    return cell.text if isinstance(cell, TextLink) else "" if cell is None else str(cell)


def row_of(topic: Topic, table: Table) -> Sequence[Value | TextLink]:
    """Return the one row that a topic names; Unanswered if the table has none, several, or other columns."""
    if max((topic.of, *topic.by, *(column for column, _text in topic.rows))) >= len(table.columns):
        raise Unanswered(topic.table)
    rows = [row for row in table.rows if all(text_of(row[column]) == text for column, text in topic.rows)]
    if len(rows) != 1:
        raise Unanswered(topic.table)
    return rows[0]


def shown(value: Value | TextLink) -> str:
    """Return a cell as sentences quote it: numbers with three digits."""
    return f"{value:.3g}" if isinstance(value, float) else text_of(value)


def stands_in(number: str, text: str) -> bool:
    """Return whether a number stands in a text as a whole, and not as a part of a longer one."""
    return _whole(number).search(text) is not None


def put_in(number: str, other: str, text: str) -> str:
    """Return a text with a number in the place where another stood as a whole."""
    return _whole(other).sub(lambda _found: number, text, count=1)


def _whole(number: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\d.,]){re.escape(number)}(?!\d|[.,]\d)")


def quantity(value: float, unit: str) -> str:
    """Return a figure of a base unit as sentences print it."""
    return units.format_quantity(float(value), unit)
