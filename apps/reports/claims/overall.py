"""What two columns of a table come to over all its rows: at which it is higher or lower, and between which ratios."""

from collections.abc import Sequence

from apps.bench.comparison import ContrastVerdict, Joint, joint
from apps.reports.claims import words
from apps.reports.document import Claim, Table, Topic, Value

RELATIONS = (
    *(words.OVERALL_HIGHER, words.OVERALL_LOWER, words.OVERALL_MIXED, words.OVERALL_ALIKE),
    *(words.TOGETHER_HIGHER, words.TOGETHER_LOWER, words.RATIOS),
)
# Of so many settings the names are told, of more only how many there are.
MOST_NAMED = 4
_OF_EACH = {
    ContrastVerdict.HIGHER: words.OVERALL_HIGHER,
    ContrastVerdict.LOWER: words.OVERALL_LOWER,
    ContrastVerdict.MIXED: words.OVERALL_MIXED,
}
_TOGETHER = {ContrastVerdict.HIGHER: words.TOGETHER_HIGHER, ContrastVerdict.LOWER: words.TOGETHER_LOWER}


def tell(topic: Topic, table: Table) -> list[Claim]:
    """Return how column `by[1]` stands to column `by[0]`; `of` is the column of their ratios."""
    claims = [*_overall(topic, table)]
    ratios = [row[topic.of] for row in table.rows if isinstance(row[topic.of], int | float)]
    if ratios:
        low, high = min(map(_number, ratios)), max(map(_number, ratios))
        claims.append(Claim(words.RATIOS, topic, {"low": f"{low:.3g}", "high": f"{high:.3g}"}))
    return claims


def holds(claim: Claim, table: Table) -> bool:
    """Return whether a claim is what the table's rows come to."""
    columns = (claim.topic.of, *claim.topic.by)
    if len(claim.topic.by) != 2 or max(columns) >= len(table.columns):
        return False
    return any(
        other.relation == claim.relation and dict(other.says) == dict(claim.says)
        for other in tell(claim.topic, table)
    )


def _overall(topic: Topic, table: Table) -> list[Claim]:
    behind = table.figures or {}
    first, second = (behind.get(str(column)) for column in topic.by)
    rows = [
        (number, (before, after))
        for number, (before, after) in enumerate(zip(first or (), second or (), strict=True))
        if before and after
    ]
    answer = joint([pair for _number, pair in rows])
    if answer is None:
        return []
    says: dict[str, Value] = {
        "settings": len(rows),
        "n": min(len(figures) for _number, pair in rows for figures in pair),
    }
    if not answer.is_of_each:
        says["p"] = float(f"{answer.together.p:.2g}")
        says["share"] = f"{100 * answer.together.superiority:.0f}"
        return [Claim(_TOGETHER.get(answer.verdict, words.OVERALL_ALIKE), topic, says)]
    if answer.verdict is ContrastVerdict.MIXED:
        for word, verdict in (("higher", ContrastVerdict.HIGHER), ("lower", ContrastVerdict.LOWER)):
            says[word] = _named(topic, table, [number for number, _pair in rows], answer, verdict)
    return [Claim(_OF_EACH[answer.verdict], topic, says)]


def _named(topic: Topic, table: Table, rows: Sequence[int], answer: Joint, verdict: ContrastVerdict) -> str:
    """Return at how many settings this was found, and which they are where they are few."""
    own = [number for number, found in zip(rows, answer.verdicts, strict=True) if found is verdict]
    columns = table.columns[: min(topic.by)]
    if not own or len(own) > MOST_NAMED or not columns:
        return str(len(own))
    names = [
        ", ".join(f"{column.title} {value}" for column, value in zip(columns, table.rows[number], strict=False))
        for number in own
    ]
    return f"{len(own)} ({'; '.join(names)})"


def _number(value: object) -> float:
    return float(str(value))
