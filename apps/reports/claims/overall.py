"""What two columns of a table come to over all its rows: which is higher, and between which ratios row by row."""

from collections.abc import Sequence

from apps.bench import statistics
from apps.bench.comparison import ALPHA
from apps.reports.claims import words
from apps.reports.document import Claim, Table, Topic, Value

RELATIONS = (words.OVERALL_HIGHER, words.OVERALL_LOWER, words.OVERALL_ALIKE, words.RATIOS)


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
    pairs: list[tuple[Sequence[float], Sequence[float]]] = [
        (before, after) for before, after in zip(first or (), second or (), strict=True) if before and after
    ]
    answer = statistics.compare_strata(pairs) if pairs else None
    if answer is None:
        return []
    relation = words.OVERALL_ALIKE
    if answer.p <= ALPHA:
        relation = words.OVERALL_HIGHER if answer.superiority > 0.5 else words.OVERALL_LOWER
    says: dict[str, Value] = {
        "p": float(f"{answer.p:.2g}"),
        "share": f"{100 * answer.superiority:.0f}",
        "settings": len(pairs),
        "n": min(len(figures) for pair in pairs for figures in pair),
    }
    return [Claim(relation, topic, says)]


def _number(value: object) -> float:
    return float(str(value))
