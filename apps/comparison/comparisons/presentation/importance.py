"""Which factors matter: the share of the variance that each of them, and each pair, explains."""

from itertools import chain, repeat
from typing import Any

from apps.bench import statistics
from apps.bench.comparison import ALPHA, Remark
from apps.bench.statistics import Importance
from apps.comparison.comparisons import factors, failures
from apps.comparison.comparisons.comparison import Comparison
from apps.comparison.comparisons.presentation.tables import p_text

# Of very many factors and pairs of factors, those that explain most.
MOST_SHARES = 12

# The title of a set, and what its factors explain.
Explained = tuple[str, Importance]


def explained(comparison: Comparison) -> tuple[list[Explained], list[Remark]]:
    """Return what each set's own factors explain of it, and a remark if that cannot be computed."""
    none: list[Explained] = []
    return failures.attempt(failures.IMPORTANCE, lambda: _shares(comparison), none)


def _shares(comparison: Comparison) -> list[Explained]:
    figures, columns = comparison.gathering.figures, comparison.gathering.columns
    names = [factor.name for factor in comparison.named if factor.is_parameter or factor.name == factors.NODES]
    shares = []
    for place, (title, rows) in enumerate(zip(comparison.titles, figures.rows, strict=True)):
        counts = [len(row.values) for row in rows]
        # Its value for each figure, of which a row may have several.
        own = {name: list(chain.from_iterable(map(repeat, columns[name][place], counts))) for name in names}
        values = [value for row in rows for value in row.values]
        if names and (importance := statistics.explain_variance(own, values)):
            shares.append((title, importance))
    return shares


def table_of(comparison: Comparison, shares: list[Explained]) -> list[dict[str, Any]]:
    """Return what each set's factors explain of its figures, as shares of their variance."""
    labels = {factor.name: factor.label for factor in comparison.factors}
    return [
        {
            "title": title,
            "shares": [
                {
                    "label": " × ".join(labels.get(name, name) for name in item.factors),
                    "share": item.share,
                    "p": None if item.p is None else p_text(item.p).removeprefix("p = ").removeprefix("p "),
                    "matters": item.p is not None and item.p <= ALPHA,
                }
                for item in importance.shares[:MOST_SHARES]
            ],
            "shared": importance.shared,
            "rest": importance.rest,
            "noise": importance.noise,
            "is_balanced": importance.is_balanced,
        }
        for title, importance in shares
    ]
