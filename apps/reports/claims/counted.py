"""Sentences that quote cells of a table or count its rows: their words are their own, the numbers are the table's."""

from apps.reports.claims import words
from apps.reports.claims.topics import Unanswered, text_of
from apps.reports.document import Claim, Link, Sentence, Table, Topic, Value

COUNT, QUOTE = "count", "quote"
RELATIONS = (COUNT, QUOTE)


def count(text: str, number: int, table: str, *rows: tuple[int, str]) -> Sentence:
    """Return a sentence that says how many rows a table has, of those with these texts if any are given."""
    return Sentence(text, Claim(COUNT, Topic(table, rows=rows), {"count": number}))


def quote(text: str, table: str, of: int, name: str, value: str, by: int = 0) -> Sentence:
    """Return a sentence that says what column `of` of a table holds in the row that column `by` calls `name`."""
    return Sentence(text, Claim(QUOTE, Topic(table, of=of, by=(by,), rows=((by, name),)), {"value": value}))


def holds(said: Sentence, table: Table | None) -> bool:
    """Return whether the number is the table's, and stands in the sentence; Unanswered if there is no such cell.

    A table that is not there has no rows.
    """
    claim = said.claim
    told = claim.says.get("count" if claim.relation == COUNT else "value")
    if table is None:
        return claim.relation == COUNT and told == 0
    return str(told) == _number(claim, table) and str(told) in said.text


def right(said: Sentence, table: Table) -> Sentence:
    """Return the sentence with the table's number in place of its own; Unanswered if there is no such cell."""
    name = "count" if said.claim.relation == COUNT else "value"
    number = _number(said.claim, table)
    value: Value = int(number) if name == "count" else number
    text = said.text.replace(str(said.claim.says.get(name)), number, 1)
    return Sentence(text, Claim(said.claim.relation, said.claim.topic, {name: value}))


def shown(value: Value | Link) -> str:
    """Return a cell as sentences quote it: numbers with three digits."""
    return f"{value:.3g}" if isinstance(value, float) else text_of(value)


def differ(claim: Claim, table: Table) -> bool:
    """Return whether the rows differ in the columns that the claim names."""
    if claim.relation != words.UNLIKE or not claim.topic.by or max(claim.topic.by) >= len(table.columns):
        return False
    return len({tuple(text_of(row[column]) for column in claim.topic.by) for row in table.rows}) > 1


def _number(claim: Claim, table: Table) -> str:
    topic = claim.topic
    if max((topic.of, *(column for column, _text in topic.rows))) >= len(table.columns):
        raise Unanswered(topic.table)
    rows = [row for row in table.rows if all(text_of(row[column]) == text for column, text in topic.rows)]
    if claim.relation == COUNT:
        return str(len(rows) if topic.rows or not table.total else table.total)
    if len(rows) != 1:
        raise Unanswered(topic.table)
    return shown(rows[0][topic.of])
