"""The chart of parallel coordinates: single runs over all factors that vary, and the metric."""

from itertools import compress
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.comparison.comparisons import factors
from apps.comparison.comparisons.comparison import Comparison
from apps.comparison.comparisons.places import settings_of

Json = dict[str, Any]

# More runs than this are not told apart by lines, and drawing them takes seconds.
MOST_RUNS = 2000
# More places than this on an axis of words cannot be read.
MOST_LABELS = 200


def parallel_of(comparison: Comparison) -> Json:
    """Return the runs over all factors that vary and the metric; of very many evenly chosen ones."""
    assert comparison.metric
    several, columns = len(comparison.titles) > 1, comparison.gathering.columns
    # What only tells the sets apart has its axis in them.
    axis_factors = [
        factor
        for factor in comparison.named
        if (factor.numeric or len(factor.values) <= MOST_LABELS)
        and (factor.is_parameter or comparison.gathering.varies_within(factor))
    ]
    axes: list[Json] = (
        [{"name": factors.SET, "label": _("Sets"), "unit": "", "labels": list(comparison.titles)}] if several else []
    )
    for factor in axis_factors:
        log = {"log": True} if factor.is_log else {}
        words = {} if factor.numeric else {"labels": list(factor.texts)}
        axes.append({"name": factor.name, "label": factor.label, "unit": factor.unit, **log, **words})
    log_y = {"log": True} if comparison.state.log_y == "yes" else {}
    axes.append(
        {"name": comparison.metric.name, "label": _(comparison.metric.label), "unit": comparison.metric.unit, **log_y}
    )
    names = [factor.name for factor in axis_factors]
    runs = []
    for place, rows in enumerate(comparison.gathering.figures.rows):
        row_settings = zip(rows, settings_of(names, columns, place), strict=True)
        for row, setting in compress(row_settings, comparison.has_fixed[place]):
            runs += [(place, setting, *run) for run in zip(row.trials, row.values, strict=True)]
    chosen = runs[:: max(1, -(-len(runs) // MOST_RUNS))]
    lines = []
    for place, setting, _trial, figure in chosen:
        pairs = zip(axis_factors, setting, strict=True)
        places = [value if factor.numeric else factor.place(value) for factor, value in pairs]
        lines.append([*([place] if several else []), *places, figure])
    return {
        "kind": "parallel",
        "axes": axes,
        "rows": lines,
        "ids": [trial for _place, _setting, trial, _figure in chosen],
        **_flagged_runs(comparison, [trial for _place, _setting, trial, _figure in chosen]),
        "url": reverse("results:trial", args=[0]).replace("/0/", "/{id}/"),
        **({"colour": 0} if several else {}),
    }


def _flagged_runs(comparison: Comparison, trials: list[int]) -> Json:
    """Return the places of the runs that have flags, {"hollow": […]}; {} if none has any."""
    assert comparison.metric
    doubts, metric = comparison.gathering.figures.doubts, comparison.metric.name
    hollow = [place for place, pk in enumerate(trials) if doubts.is_flagged(pk, metric)]
    return {"hollow": hollow} if hollow else {}
