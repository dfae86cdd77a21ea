"""A comparison as CSV and JSON: every place with its figures, interval, and contrast with the baseline."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.utils.text import slugify

from apps.bench import statistics
from apps.bench.comparison import ContrastVerdict
from apps.comparison.comparisons import factors
from apps.comparison.comparisons.comparison import Comparison
from apps.comparison.comparisons.presentation import importance
from apps.comparison.comparisons.presentation.words import baseline_title, has_told
from apps.core import messages
from apps.results import downloads


def csv_of(comparison: Comparison) -> HttpResponse:
    """Return a line for each place, in base units; trials, modes, outliers and flags joined by blanks."""
    out = io.StringIO()
    writer = csv.writer(out)
    header: list[str] = []
    for row in rows_of(comparison):
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
    figures, environments = comparison.gathering.figures, comparison.gathering.environments
    shares, failures = importance.explained(comparison)
    return {
        "query": comparison.state.as_query(),
        "sets": [
            {
                "text": result_set.as_text(),
                "title": title,
                "samples": sum(len(row.values) for row in rows),
                "told_by_archive": has_told(comparison, rows),
            }
            for result_set, title, rows in zip(comparison.state.sets, comparison.titles, figures.rows, strict=True)
        ],
        "metric": comparison.metric.name if comparison.metric else None,
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
            {"level": remark.level.value, "text": messages.render(remark.message)}
            for remark in (*comparison.remarks, *failures)
        ],
        "differences": [
            {"topic": item.topic, "name": item.name, "values": [sorted(map(str, values)) for values in item.values]}
            for item in comparison.deviations
        ],
        "recorded": list(environments.recorded),
        "unrecorded": list(environments.unrecorded),
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
                "shares": [{"factors": list(item.factors), "share": item.share, "p": item.p} for item in own.shares],
                "shared": own.shared,
                "rest": own.rest,
                "noise": own.noise,
                "is_balanced": own.is_balanced,
            }
            for title, own in shares
        ],
        "left_out": figures.left_out,
        "reasons": dict(figures.invalid),
        "rows": list(rows_of(comparison)),
    }


def rows_of(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Yield each cell as a flat row of numbers in base units, as downloads and REST give it."""
    figures = comparison.gathering.figures
    for cell in comparison.cells:
        contrast = cell.contrast
        difference = contrast.difference if contrast else None
        mark = figures.doubts.about(cell.trials, figures.metric)
        yield {
            "set": comparison.titles[cell.set],
            "x": comparison.axis.text(cell.x) if comparison.axis.name == factors.SET else cell.x,
            "x_text": comparison.axis.text(cell.x),
            "series": cell.series,
            "series_text": comparison.series.text(cell.series) if comparison.series else "",
            "others": {factor.name: value for factor, value in zip(comparison.apart, cell.rest, strict=True)},
            "n": cell.n,
            "settings": cell.settings,
            "value": cell.centre.value,
            "low": cell.ends.low,
            "high": cell.ends.high,
            "is_cut": cell.ends.is_cut,
            "confidence": cell.centre.confidence,
            "method": cell.centre.method.value if cell.centre.method else "",
            "assumes": statistics.assumes_of(cell.centre.method),
            "unit": comparison.unit,
            "is_baseline": cell.is_baseline,
            "ratio": difference.ratio if difference else None,
            "ratio_low": difference.ratio_low if difference else None,
            "ratio_high": difference.ratio_high if difference else None,
            "ratio_confidence": difference.confidence if difference and difference.ratio is not None else None,
            "ratio_method": difference.method.value if difference and difference.method and difference.ratio else "",
            "shift": difference.shift if difference else None,
            "p": contrast.p if contrast else None,
            "superiority": difference.superiority if difference else None,
            "effect": contrast.effect if contrast else "",
            "verdict": contrast.verdict.value if contrast else "",
            "outliers": [trial for trial, _value in cell.outliers],
            "modes": [cell.modes.lower_mean, cell.modes.upper_mean] if cell.modes else [],
            "flagged": mark.flagged if mark else 0,
            "flags": mark.counts if mark else {},
            "trials": list(cell.trials),
        }


def _attachment(response: Any, comparison: Comparison, ending: str) -> Any:
    name = slugify("-".join(comparison.titles))[:80].strip("-") or "comparison"
    response["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    return response
