"""Sentences of what a finding rests on: a mean of the figures behind a cell, and the gain that two cells come to."""

from apps.bench.statistics import Mean, mean_of
from apps.reports.claims.topics import Unanswered, quantity, row_of, shown, stands_in
from apps.reports.document import Claim, Sentence, Table, Topic, Value

FIGURE, GAIN = "figure", "gain"
RELATIONS = (FIGURE, GAIN)


def figure(text: str, table: str, of: int, name: str, value: str, mean: Mean, n: int, unit: str) -> Sentence:
    """Return a sentence that says a cell of the row called `name`: the mean (of a kind) of the `n` figures behind it.

    Those are in the base unit.
    """
    topic = Topic(table, of=of, by=(0,), rows=((0, name),), unit=unit)
    return Sentence(text, Claim(FIGURE, topic, {"value": value, "mean": mean.value, "n": n}))


def gain(
    text: str, table: str, columns: tuple[int, int, int], name: str, value: str, means: tuple[Mean, Mean]
) -> Sentence:
    """Return a sentence that says by how many times the second of two columns' figures is the first.

    The third column has that ratio, `means` are the kinds of the figures' means.
    """
    topic = Topic(table, of=columns[2], by=columns[:2], rows=((0, name),))
    return Sentence(text, Claim(GAIN, topic, {"gain": value, "now": means[0].value, "then": means[1].value}))


def holds(sentence: Sentence, table: Table) -> bool:
    """Return whether a sentence says what its row holds; Unanswered if there is no such row."""
    name = _named(sentence)
    row, number = row_of(sentence.claim.topic, table), str(sentence.claim.says.get(name))
    right = _number(sentence.claim, table)
    return right == number == shown(row[sentence.claim.topic.of]) and stands_in(number, sentence.text)


def right(sentence: Sentence, table: Table) -> Sentence:
    """Return the sentence with the number that the figures of its row come to; Unanswered if a cell says another."""
    name, claim = _named(sentence), sentence.claim
    number = _number(claim, table)
    if number != shown(row_of(claim.topic, table)[claim.topic.of]):
        raise Unanswered(claim.topic.table)
    says: dict[str, Value] = {**claim.says, name: number}
    return Sentence(
        sentence.text.replace(str(claim.says.get(name)), number, 1), Claim(claim.relation, claim.topic, says)
    )


def _named(sentence: Sentence) -> str:
    return "value" if sentence.claim.relation == FIGURE else "gain"


def _number(claim: Claim, table: Table) -> str:
    """Return what the figures behind a row come to, as sentences print it."""
    topic, says = claim.topic, claim.says
    if claim.relation == FIGURE:
        behind = _behind(claim, table, topic.of)
        if len(behind) != says.get("n"):
            raise Unanswered(topic.table)
        return quantity(mean_of(behind, Mean(says.get("mean"))), topic.unit)
    now, then = (
        mean_of(_behind(claim, table, column), Mean(says.get(kind)))
        for column, kind in zip(topic.by, ("now", "then"), strict=True)
    )
    return f"{then / now:.3g}" if now else ""


def _behind(claim: Claim, table: Table, column: int) -> list[float]:
    """Return the figures behind a column of the row that a claim speaks of."""
    row = row_of(claim.topic, table)
    place = next(place for place, other in enumerate(table.rows) if other is row)
    lists = (table.figures or {}).get(str(column))
    if not lists or not lists[place]:
        raise Unanswered(claim.topic.table)
    return list(lists[place])
