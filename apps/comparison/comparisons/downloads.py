"""A comparison as CSV and JSON: every place with its figures, interval, and contrast with the baseline."""

import csv
import io
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.utils.text import slugify

from apps.bench.comparison import ContrastVerdict
from apps.comparison.comparisons import tables
from apps.comparison.comparisons.contrast import Comparison, baseline_title
from apps.comparison.comparisons.told import has_told
from apps.core import messages
from apps.results import downloads


def csv_of(comparison: Comparison) -> HttpResponse:
    """Return a line for each place, in base units; trials, modes, outliers and flags joined by blanks."""
    out = io.StringIO()
    writer = csv.writer(out)
    header: list[str] = []
    for row in tables.rows_of(comparison):
        if not header:
            header = list(row)
            writer.writerow(header)
        writer.writerow([downloads.plain(value) for value in row.values()])
    return _attachment(HttpResponse(out.getvalue(), content_type="text/csv; charset=utf-8"), comparison, "csv")


def json_of(comparison: Comparison) -> JsonResponse:
    """Return the whole comparison as REST gives it."""
    return _attachment(JsonResponse(as_json(comparison)), comparison, "json")


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as plain JSON values."""
    # Before the remarks, for one of them says so if it fails.
    metric, explained = comparison.metric, comparison.explained
    return {
        "query": comparison.state.as_query(),
        "sets": [
            {
                "text": result_set.as_text(),
                "title": title,
                "samples": sum(len(row.values) for row in rows),
                "told_by_archive": has_told(comparison.gathered, rows),
            }
            for result_set, title, rows in zip(
                comparison.state.sets, comparison.titles, comparison.gathered.rows, strict=True
            )
        ],
        "metric": metric.name if metric else None,
        "unit": comparison.unit,
        "metrics": [item.name for item in comparison.metrics],
        "statistic": comparison.mean.value + " mean" if comparison.state.statistic.value == "mean" else "median",
        "axis": comparison.axis.name,
        "series": comparison.series.name if comparison.series else None,
        "factors": [
            {"name": factor.name, "unit": factor.unit, "values": list(factor.keys)} for factor in comparison.named
        ],
        "fixed": {factor.name: text for factor, text in comparison.fixed},
        "apart": [factor.name for factor in comparison.apart],
        "averaged": [factor.name for factor in comparison.averaged],
        "baseline": baseline_title(comparison),
        "is_comparable": comparison.is_comparable,
        "remarks": [
            {"level": remark.level.value, "text": messages.render(remark.message)} for remark in comparison.remarks
        ],
        "differences": [
            {"topic": item.topic, "name": item.name, "values": [sorted(map(str, values)) for values in item.values]}
            for item in comparison.deviations
        ],
        "recorded": list(comparison.recorded),
        "unrecorded": list(comparison.unrecorded),
        "overall": [
            {
                "set": comparison.titles[place],
                "verdict": overall.verdict.value,
                "p": overall.together.p,
                "superiority": overall.together.superiority,
                "settings": overall.together.strata,
                "higher": overall.count(ContrastVerdict.HIGHER),
                "lower": overall.count(ContrastVerdict.LOWER),
            }
            for place, overall in comparison.overall.items()
        ],
        "importance": [
            {
                "set": title,
                "shares": [
                    {"factors": list(item.factors), "share": item.share, "p": item.p} for item in importance.shares
                ],
                "rest": importance.rest,
                "noise": importance.noise,
                "is_balanced": importance.is_balanced,
            }
            for title, importance in explained
        ],
        "left_out": comparison.gathered.left_out,
        "reasons": dict(comparison.gathered.invalid),
        "rows": list(tables.rows_of(comparison)),
    }


def _attachment(response: Any, comparison: Comparison, ending: str) -> Any:
    name = slugify("-".join(comparison.titles))[:80].strip("-") or "comparison"
    response["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    return response
