"""Sentences about what became of offered loads: told of a table by the curve of loss, and asked of it again."""

from collections.abc import Iterable, Sequence

from apps.bench.network import loss_curve
from apps.bench.network.loss_curve import LoadPoint
from apps.bench.text import Message
from apps.core import messages
from apps.reports.claims.topics import Unanswered, text_of
from apps.reports.columns import size_of
from apps.reports.document import Claim, Sentence, Table, TextLink, Topic, Value

LOADS = "loads"
RELATIONS = (LOADS,)
# The columns of such a table: the sweep, the load that was offered, the share that was lost, and whether an end held.
SWEEP, OFFERED, LOST, HELD = range(4)


def tell(table: Table, sweep: str) -> list[Sentence]:
    """Return what the rows of a sweep ("" of one alone) show, in the present language."""
    topic = Topic(table.key, of=LOST, by=(OFFERED,), rows=((SWEEP, sweep),))
    return [_sentence(topic, message) for message in _conclusions(topic, table)]


def holds(sentence: Sentence, table: Table) -> bool:
    """Return whether the curve of the rows that a sentence speaks of still says it, in these words and figures."""
    topic = sentence.claim.topic
    return any(sentence == _sentence(topic, message) for message in _conclusions(topic, table))


def right(wrong: Sentence, table: Table) -> list[Sentence]:
    """Return what the curve says in the place of a sentence: of the same thing, if it says anything of that."""
    topic = wrong.claim.topic
    sentences = [_sentence(topic, message) for message in _conclusions(topic, table)]
    return [sentence for sentence in sentences if sentence.claim.says["msgid"] == wrong.claim.says.get("msgid")]


def _sentence(topic: Topic, message: Message) -> Sentence:
    says: dict[str, Value] = {"msgid": message.msgid, **{name: str(value) for name, value in message.params.items()}}
    label = topic.rows[0][1]
    text = messages.render(message)
    return Sentence(f"{label}: {text}" if label else text, Claim(LOADS, topic, says))


def _conclusions(topic: Topic, table: Table) -> Sequence[Message]:
    if len(table.columns) <= HELD or not topic.rows:
        raise Unanswered(topic.table)
    points = [
        _point(row, place, table) for place, row in enumerate(table.rows) if text_of(row[SWEEP]) == topic.rows[0][1]
    ]
    if len({point.offered for point in points}) < len(points):
        # Two figures of one load show nothing.
        return ()
    # What is no load or no share of it raises ValueError: nothing is said of that.
    curve = loss_curve.analyse(points)
    return curve.conclusions if curve else ()


def _point(row: Sequence[Value | TextLink], place: int, table: Table) -> LoadPoint:
    offered, lost = row[OFFERED], row[LOST]
    if not isinstance(offered, int | float) or not isinstance(lost, int | float):
        raise Unanswered(table.key)
    rate = float(offered) * size_of(table.columns[OFFERED].unit, "bit/s")
    share = size_of(table.columns[LOST].unit, "fraction")
    runs = (table.figures or {}).get(str(LOST))
    losses = tuple(loss * share for loss in runs[place]) if runs else ()
    return LoadPoint(rate, float(lost) * share, is_held=bool(row[HELD]), losses=losses)


def sweeps_in(table: Table) -> Iterable[str]:
    """Return the sweeps of a table, each once."""
    return dict.fromkeys(text_of(row[SWEEP]) for row in table.rows)
