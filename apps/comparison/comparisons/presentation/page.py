"""The context of a comparison's page: charts, the lines of one page of its table, and all that may be chosen."""

from typing import Any

from django.core.paginator import Paginator
from django.urls import reverse
from django.utils.translation import gettext_lazy

from apps.bench import strict_json
from apps.comparison.comparisons import factors, failures
from apps.comparison.comparisons.comparison import Comparison
from apps.comparison.comparisons.factors import VariedFactor
from apps.comparison.comparisons.presentation import charts, importance, tables, words
from apps.comparison.comparisons.state import CHARTS
from apps.core import messages

LINES_PER_PAGE = 50
# A list to choose from that is longer than this helps nobody; an address can name the rest.
MOST_OPTIONS = 300
_CHART_NAMES = {
    "line": gettext_lazy("lines with intervals"),
    "box": gettext_lazy("box plots"),
    "heat": gettext_lazy("heat map of two factors"),
    "parallel": gettext_lazy("parallel coordinates"),
}
_LOG_NAMES = {
    "auto": gettext_lazy("as fits"),
    "no": gettext_lazy("linear"),
    "yes": gettext_lazy("logarithmic"),
}


def page_of(comparison: Comparison, number: str | None) -> dict[str, Any]:
    """Return what the page shows of a comparison, with the lines of its table that stand on a page."""
    figures = comparison.gathering.figures
    choices = _choices_of(comparison)
    none: list[Any] = []
    drawn, chart_remarks = failures.attempt(failures.CHART, lambda: charts.charts_of(comparison), none)
    context: dict[str, Any] = {
        "comparison": comparison,
        "metric": comparison.metric,
        "choices": choices,
        "charts": [(title, strict_json.dumps(data)) for title, data in drawn],
        "chart_remark": charts.remark_of(comparison, drawn),
        "undrawn": charts.undrawn(comparison),
        "statistic": words.statistic_label(comparison),
        "baseline": words.baseline_title(comparison),
        "sets": [
            {
                "title": title,
                "text": result_set.as_text(),
                "n": sum(len(row.values) for row in rows),
                "without": comparison.state.without_set(place).as_query(),
                "is_baseline": place == comparison.state.baseline,
                "is_told": words.has_told(comparison, rows),
            }
            for place, (title, result_set, rows) in enumerate(
                zip(comparison.titles, comparison.state.sets, figures.rows, strict=True)
            )
        ],
        "trial_base": reverse("results:trial", args=[0]).removesuffix("0/"),
        "reasons": figures.invalid.most_common(),
        "downloads": {
            ending: f"{reverse(f'comparison:{ending}')}?{comparison.state.as_query()}" for ending in ("csv", "json")
        },
    }
    page = Paginator(tables.lines_of(comparison), LINES_PER_PAGE).get_page(number)
    context |= {
        "columns": tables.columns_of(comparison),
        "page_obj": page,
        "lines": [tables.line_of(comparison, place) for place in page.object_list],
        "overall": tables.overall_of(comparison),
    }
    shares, importance_remarks = importance.explained(comparison)
    remarks = [*comparison.remarks, *chart_remarks, *importance_remarks]
    return context | {
        "importance": importance.table_of(comparison, shares),
        "remarks": [(remark.level.value, messages.render(remark.message)) for remark in remarks],
        "differences": [
            {"topic": item.topic, "name": item.name, "values": [sorted(map(str, values)) for values in item.values]}
            for item in comparison.deviations
        ],
    }


def _choices_of(comparison: Comparison) -> dict[str, Any]:
    """Return what may be chosen beside what is shown: {part of the form: its options}."""
    hidden = [
        factor
        for factor in comparison.named
        if factor not in (comparison.axis, comparison.series)
        and (factor.is_parameter or comparison.gathering.varies_within(factor))
    ]
    return {
        "axis": axes_of(comparison),
        "series": [factor for factor in comparison.named if factor != comparison.axis],
        "fix": [
            {
                "factor": factor,
                "chosen": comparison.state.fixed_value(factor.name),
                "options": list(zip(factor.keys, factor.texts, strict=True))[:MOST_OPTIONS],
            }
            for factor in hidden
        ],
        "baseline": _baselines(comparison),
        "charts": [(name, _CHART_NAMES[name]) for name in CHARTS],
        "logs": list(_LOG_NAMES.items()),
    }


def axes_of(comparison: Comparison) -> list[VariedFactor]:
    """Return what can be on the axis: the sets, what varies, and what is there though it does not vary."""
    axes = [comparison.gathering.sets, *comparison.named] if len(comparison.titles) > 1 else [*comparison.named]
    return axes if comparison.axis.name in {factor.name for factor in axes} else [comparison.axis, *axes]


def _baselines(comparison: Comparison) -> list[tuple[str, str, bool]]:
    """Return (value, label, whether chosen) of what can be the baseline: a set, a value of the axis or the series."""
    state = comparison.state
    by_value = state.base_axis is not None or state.base_series is not None
    baselines = [
        (f"set:{place}", title, not by_value and place == state.baseline)
        for place, title in enumerate(comparison.titles)
        if len(comparison.titles) > 1
    ]
    for kind, factor, chosen in (
        ("x", comparison.axis, state.base_axis),
        ("by", comparison.series, state.base_series),
    ):
        if factor and factor.name != factors.SET:
            pairs = list(zip(factor.keys, factor.texts, strict=True))[:MOST_OPTIONS]
            baselines += [(f"{kind}:{key}", f"{factor.label} {text}", key == chosen) for key, text in pairs]
    return baselines
