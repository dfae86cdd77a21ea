"""The rows of a heat map: values of the series, with whatever else tells places apart."""

from collections.abc import Hashable
from typing import Any

from apps.comparison.comparisons import factors
from apps.comparison.comparisons.contrast import Comparison
from apps.comparison.comparisons.factors import VariedFactor

Json = dict[str, Any]


def labels_of(factor: VariedFactor) -> Json:
    """Return an axis of words."""
    return {"name": factor.name, "label": factor.label, "labels": list(factor.texts)}


def rows_of(comparison: Comparison) -> tuple[Json, dict[tuple[Hashable, ...], int]]:
    """Return the y axis of a heat map, and the row of each value of the series with what else is told apart."""
    if not comparison.apart:
        y = comparison.series or factors.of_sets(comparison.titles)
        return labels_of(y), {(value, ()): place for place, value in enumerate(y.values)}
    kinds = {(cell.series, cell.rest): cell for cell in comparison.cells}
    order = sorted(
        kinds,
        key=lambda kind: (
            comparison.series.place(kind[0]) if comparison.series else 0,
            tuple(factor.place(value) for factor, value in zip(comparison.apart, kind[1], strict=True)),
        ),
    )
    labels = []
    for kind in order:
        series = comparison.series.text(kind[0]) if comparison.series else ""
        labels.append(", ".join(filter(None, (series, comparison.rest_of(kinds[kind])))))
    named = [*([comparison.series] if comparison.series else []), *comparison.apart]
    names = {"name": named[0].name, "label": ", ".join(factor.label for factor in named)}
    return names | {"labels": labels}, {kind: place for place, kind in enumerate(order)}
