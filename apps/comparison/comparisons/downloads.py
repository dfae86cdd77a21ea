"""A comparison as CSV and JSON: every place with its figures, interval, and contrast with the baseline."""

import csv
import io
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.utils.text import slugify

from apps.comparison.comparisons import tables
from apps.comparison.comparisons.contrast import Comparison, baseline_title
from apps.core import messages
from apps.results import downloads


def csv_of(made: Comparison) -> HttpResponse:
    """Return a line for each place, in base units; trials, modes, outliers and flags joined by blanks."""
    out = io.StringIO()
    writer = csv.writer(out)
    header: list[str] = []
    for row in tables.rows_of(made):
        if not header:
            header = list(row)
            writer.writerow(header)
        writer.writerow([downloads.plain(value) for value in row.values()])
    return _attachment(HttpResponse(out.getvalue(), content_type="text/csv; charset=utf-8"), made, "csv")


def json_of(made: Comparison) -> JsonResponse:
    """Return the whole comparison as REST gives it."""
    return _attachment(JsonResponse(as_json(made)), made, "json")


def as_json(made: Comparison) -> dict[str, Any]:
    """Return the comparison as plain JSON values."""
    # Before the remarks, for one of them says so if it fails.
    metric, explained = made.metric, made.explained
    return {
        "query": made.state.as_query(),
        "sets": [
            {"text": found.as_text(), "title": title, "samples": sum(len(row.values) for row in rows)}
            for found, title, rows in zip(made.state.sets, made.titles, made.gathered.rows, strict=True)
        ],
        "metric": metric.name if metric else None,
        "unit": made.unit,
        "metrics": [item.name for item in made.metrics],
        "statistic": made.mean.value + " mean" if made.state.statistic.value == "mean" else "median",
        "axis": made.axis.name,
        "series": made.series.name if made.series else None,
        "factors": [
            {"name": factor.name, "unit": factor.unit, "values": list(factor.keys)} for factor in made.factors
        ],
        "fixed": {factor.name: text for factor, text in made.fixed},
        "apart": [factor.name for factor in made.apart],
        "averaged": [factor.name for factor in made.averaged],
        "baseline": baseline_title(made),
        "is_comparable": made.is_comparable,
        "remarks": [
            {"level": remark.level.value, "text": messages.render(remark.message)} for remark in made.remarks
        ],
        "differences": [
            {"topic": item.topic, "name": item.name, "values": [sorted(map(str, found)) for found in item.values]}
            for item in made.deviations
        ],
        "overall": [
            {"set": made.titles[place], "p": found.p, "superiority": found.superiority, "settings": found.strata}
            for place, found in made.overall.items()
        ],
        "importance": [
            {
                "set": title,
                "shares": [
                    {"factors": list(item.factors), "share": item.share, "p": item.p} for item in found.shares
                ],
                "rest": found.rest,
                "noise": found.noise,
                "is_balanced": found.is_balanced,
            }
            for title, found in explained
        ],
        "left_out": made.gathered.left_out,
        "reasons": dict(made.gathered.invalid),
        "rows": list(tables.rows_of(made)),
    }


def _attachment(response: Any, made: Comparison, ending: str) -> Any:
    name = slugify("-".join(made.titles))[:80].strip("-") or "comparison"
    response["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    return response
