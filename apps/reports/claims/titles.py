"""Titles of findings: each figure that one says is a cell of the finding's row, and what stands behind that cell."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.bench.statistics import Mean, mean_of
from apps.core import messages
from apps.reports.claims.topics import Unanswered, put_in, quantity, row_of, shown, stands_in
from apps.reports.document import Claim, Sentence, Table, Topic, Value

TITLE = "title"
RELATIONS = (TITLE,)
# Between several figures of one cell.
BETWEEN = "; "
# A figure, and not a digit in a name: "dtn-01", "nfs4", "kisti01".
_FIGURE = re.compile(r"(?<![\w.-])\d")
_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


@dataclass(frozen=True)
class TitleCell:
    """What a title has of a column: the text, and which mean it is of the figures behind it, with their unit."""

    text: str
    unit: str = ""
    mean: Mean | None = None


def figures_of(message: Any) -> list[str]:
    """Return the figures that a stored message says, each as it is printed in the present language, each once."""
    if not isinstance(message, Mapping) or not isinstance(message.get("params"), Mapping):
        return []
    names = _PLACEHOLDER.findall(str(message.get("msgid")))
    values = (message["params"][name] for name in names if name in message["params"])
    texts = (messages.render(value) if isinstance(value, Mapping) else str(value) for value in values)
    return list(dict.fromkeys(text for text in texts if _FIGURE.search(text)))


def claim_of(table: str, name: str, cells: Mapping[int, TitleCell]) -> Claim | None:
    """Return what a title claims that says cells of the row called `name`, by their columns; None of no cells."""
    if not cells:
        return None
    says: dict[str, Value] = {}
    for column, cell in cells.items():
        says[f"{column}"] = cell.text
        if cell.mean:
            says |= {f"{column}-mean": cell.mean.value, f"{column}-unit": cell.unit}
    return Claim(TITLE, Topic(table, of=min(cells), by=(0,), rows=((0, name),)), says)


def holds(sentence: Sentence, table: Table) -> bool:
    """Return whether a title says what its row holds, and what stands behind that; Unanswered without such a row."""
    numbers = {str(column): str(sentence.claim.says[str(column)]) for column in _columns(sentence.claim)}
    return numbers == _numbers(sentence.claim, table) and all(
        stands_in(part, sentence.text) for text in numbers.values() for part in text.split(BETWEEN)
    )


def right(sentence: Sentence, table: Table) -> Sentence:
    """Return the title with the figures of its row.

    Unanswered if a cell and what stands behind it differ, or the title does not say what it claims.
    """
    text, says = sentence.text, dict(sentence.claim.says)
    for name, number in _numbers(sentence.claim, table).items():
        old, new = (value.split(BETWEEN) for value in (str(says[name]), number))
        if len(old) != len(new):
            raise Unanswered(sentence.claim.topic.table)
        for before, after in zip(old, new, strict=True):
            text = put_in(after, before, text) if before != after else text
        says[name] = number
    corrected = Sentence(text, Claim(sentence.claim.relation, sentence.claim.topic, says))
    if not holds(corrected, table):
        raise Unanswered(sentence.claim.topic.table)
    return corrected


def _columns(claim: Claim) -> Sequence[int]:
    columns = [int(name) for name in claim.says if name.isdecimal()]
    if not columns:
        raise Unanswered(claim.topic.table)
    return columns


def _numbers(claim: Claim, table: Table) -> dict[str, str]:
    """Return what the row has in each column that a title says."""
    row = row_of(claim.topic, table)
    place = next(place for place, numbers in enumerate(table.rows) if numbers is row)
    numbers = {}
    for column in _columns(claim):
        if column >= len(row):
            raise Unanswered(claim.topic.table)
        numbers[str(column)] = shown(row[column])
        if (mean := claim.says.get(f"{column}-mean")) is not None:
            lists = (table.figures or {}).get(str(column))
            behind = lists[place] if lists else ()
            unit = str(claim.says.get(f"{column}-unit", ""))
            if not behind or quantity(mean_of(behind, Mean(mean)), unit) != numbers[str(column)]:
                raise Unanswered(claim.topic.table)
    return numbers
