"""Sentences that quote cells of a table or count its rows: their words are their own, the numbers are the table's."""

from collections.abc import Mapping

from apps.reports.claims import words
from apps.reports.claims.topics import Unanswered, row_of, shown, stands_in, text_of
from apps.reports.document import Claim, Sentence, Table, Topic

COUNT, QUOTE, CELLS, ROWS, SUMS, MOST = "count", "quote", "cells", "rows", "sums", "most"
RELATIONS = (COUNT, QUOTE, CELLS, ROWS, SUMS, MOST)


def count(text: str, number: int, table: str, *rows: tuple[int, str]) -> Sentence:
    """Return a sentence that says how many rows a table has, of those with these texts if any are given."""
    return Sentence(text, Claim(COUNT, Topic(table, rows=rows), {"count": number}))


def quote(text: str, table: str, of: int, name: str, value: str, by: int = 0) -> Sentence:
    """Return a sentence that says what column `of` of a table holds in the row that column `by` calls `name`."""
    return Sentence(text, Claim(QUOTE, Topic(table, of=of, by=(by,), rows=((by, name),)), {"value": value}))


def cells(text: str, table: str, name: str, values: Mapping[int, str]) -> Sentence:
    """Return a sentence that says what several columns hold in the row that the first column calls `name`."""
    topic = Topic(table, of=min(values), rows=((0, name),))
    return Sentence(text, Claim(CELLS, topic, {str(column): value for column, value in values.items()}))


def rows(text: str, table: str, of: int, values: Mapping[str, str]) -> Sentence:
    """Return a sentence that says what column `of` holds in several rows, by what the first column calls them."""
    return Sentence(text, Claim(ROWS, Topic(table, of=of), dict(values)))


def most(text: str, table: str, of: int, name: str, value: str) -> Sentence:
    """Return a sentence that says which row, by its first column, has the most of column `of`, and how much."""
    return Sentence(text, Claim(MOST, Topic(table, of=of), {"at": name, "value": value}))


def sums(text: str, table: str, values: Mapping[int, int]) -> Sentence:
    """Return a sentence that says how many rows a table has (of column -1), and what columns add up to over them."""
    topic = Topic(table, of=max(*values, 0))
    return Sentence(text, Claim(SUMS, topic, {str(column): f"{value:,}" for column, value in values.items()}))


def holds(sentence: Sentence, table: Table | None) -> bool:
    """Return whether the numbers are the table's, and stand in the sentence; Unanswered if there is no such cell.

    A table that is not there has no rows.
    """
    if table is None:
        return sentence.claim.relation == COUNT and sentence.claim.says.get("count") == 0
    right = _numbers(sentence.claim, table)
    numbers = {name: str(value) for name, value in sentence.claim.says.items()}
    return numbers == right and all(stands_in(number, sentence.text) for number in right.values())


def right(sentence: Sentence, table: Table) -> Sentence:
    """Return the sentence with the table's numbers in place of its own; Unanswered if there is no such cell."""
    text, says = sentence.text, dict(sentence.claim.says)
    for name, number in _numbers(sentence.claim, table).items():
        text = text.replace(str(says.get(name)), number, 1) if str(says.get(name)) != number else text
        says[name] = int(number) if name == "count" else number
    return Sentence(text, Claim(sentence.claim.relation, sentence.claim.topic, says))


def differ(claim: Claim, table: Table) -> bool:
    """Return whether the rows differ in the columns that the claim names."""
    if claim.relation != words.UNLIKE or not claim.topic.by or max(claim.topic.by) >= len(table.columns):
        return False
    return len({tuple(text_of(row[column]) for column in claim.topic.by) for row in table.rows}) > 1


def _numbers(claim: Claim, table: Table) -> dict[str, str]:
    """Return what a claim's table has for each number that it says."""
    topic = claim.topic
    if max((topic.of, *(column for column, _text in topic.rows))) >= len(table.columns):
        raise Unanswered(topic.table)
    if claim.relation == COUNT:
        rows = [row for row in table.rows if all(text_of(row[column]) == text for column, text in topic.rows)]
        return {"count": str(len(rows) if topic.rows or not table.total else table.total)}
    if claim.relation == ROWS:
        return {name: shown(row_of(Topic(topic.table, of=topic.of, rows=((0, name),)), table)[topic.of])
                for name in claim.says}  # fmt: skip
    if claim.relation == MOST:
        return _most(claim, table)
    if claim.relation == SUMS:
        return {name: f"{_sum(int(name), table):,}" for name in claim.says}
    row = row_of(topic, table)
    if claim.relation == QUOTE:
        return {"value": shown(row[topic.of])}
    if any(int(name) >= len(row) for name in claim.says):
        raise Unanswered(topic.table)
    return {name: shown(row[int(name)]) for name in claim.says}


def _most(claim: Claim, table: Table) -> dict[str, str]:
    """Return the row with the most of a column: the one that is named, if no other has more."""
    heights: dict[str, float] = {}
    for row in table.rows:
        value = row[claim.topic.of]
        if isinstance(value, int | float):
            heights[text_of(row[0])] = max(value, heights.get(text_of(row[0]), value))
    if not heights:
        raise Unanswered(table.key)
    top, claimed = max(heights.values()), str(claim.says.get("at"))
    at = claimed if heights.get(claimed) == top else next(name for name, value in heights.items() if value == top)
    return {"at": at, "value": f"{top:,}"}


def _sum(column: int, table: Table) -> int:
    """Return how many rows a table has for column -1, else what a column adds up to."""
    if table.total:
        raise Unanswered(table.key)
    if column < 0:
        return len(table.rows)
    values = (row[column] for row in table.rows)
    return round(sum(value for value in values if isinstance(value, int | float)))
