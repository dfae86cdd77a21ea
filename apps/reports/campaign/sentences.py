"""What a figure shows, in a few sentences, each a claim about the rows of the figure's table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.reports.claims import curves, several, words
from apps.reports.claims.topics import places_of
from apps.reports.document import Claim, Sentence, Table, Topic

# So many lines are spoken of one by one.
MOST_LINES = 3


@dataclass(frozen=True)
class FigureLine:
    """One line of a figure: what it is called ("" where there is only one), and the rows that are its places."""

    label: str
    rows: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class FigureTopic:
    """What a figure shows of a table: the topic of all its lines, and the lines.

    `label` is the column that tells the lines apart (None: no one column does) and `title` its words; `ceiling` is in
    the base unit.
    """

    topic: Topic
    lines: Sequence[FigureLine]
    label: int | None = None
    title: str = ""
    ceiling: float | None = None


def of(figure: FigureTopic, table: Table) -> tuple[Sentence, ...]:
    """Return the sentences, none where nothing was measured, or where the table has not all rows to check them by."""
    if table.total > len(table.rows):
        return ()
    lines = [(line, places) for line in figure.lines if (places := places_of(_topic(figure, line), table))]
    if not lines:
        return ()
    claims: list[Claim] = []
    if len(lines) <= MOST_LINES:
        for line, places in lines:
            claims += curves.tell(_topic(figure, line), places)
    together = places_of(figure.topic, table)
    if len(lines) > 1 and figure.label is not None:
        claims += several.best(figure.topic, together, figure.label, figure.title)
    if figure.ceiling:
        claims += several.share(figure.topic, together, figure.ceiling)
    return tuple(words.sentence(claim) for claim in claims)


def text_of(sentences: Sequence[Sentence]) -> str:
    """Return sentences as one text."""
    return " ".join(sentence.text for sentence in sentences)


def _topic(figure: FigureTopic, line: FigureLine) -> Topic:
    topic = figure.topic
    metric = f"{topic.metric} ({line.label})" if line.label else topic.metric
    return replace(topic, metric=metric, rows=(*topic.rows, *line.rows))
