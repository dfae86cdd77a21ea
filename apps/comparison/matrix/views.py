"""The page of the newest figures between sites, and its table as a file."""

import csv
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from apps.accounts import rights
from apps.bench import strict_json
from apps.bench.toolkit import Tool
from apps.comparison.matrix import pairs, table
from apps.comparison.matrix.cells import MatrixCell
from apps.comparison.matrix.table import Matrix
from apps.core.json_answers import JsonAnswer
from apps.results import charts, downloads, queries
from apps.testbeds.models import Site

COLUMNS = (
    "from", "to", "value", "unit", "samples", "points", "nodes", "setting", "experiment", "lane", "point", "measured",
    "flagged", "flags", "ceiling", "passed",
)  # fmt: skip


@login_required
@require_safe
def matrix(request: HttpRequest) -> HttpResponse:
    """Show the newest figures of a tool's metric between all sites."""
    tools, site_matrix = _find(request)
    context: dict[str, object] = {
        "tools": tools,
        "matrix": site_matrix,
        "missing": _missing(request, tools, site_matrix),
    }
    if site_matrix:
        context |= {
            "metrics": queries.metrics_of(site_matrix.tool),
            "pair_table": pairs.pair_table(rights.user_of(request), site_matrix, timezone.now()),
            "directions": _directions(site_matrix),
            "chart": strict_json.dumps(chart_of(site_matrix)),
            "query": f"tool={site_matrix.tool.slug}&metric={site_matrix.metric.name}",
        }
    return render(request, "results/matrix/matrix.html", context)


@login_required
@require_safe
def panel(request: HttpRequest) -> HttpResponse:
    """Return the partial with the table by pairs, of the most used tool unless another is asked for."""
    _tools, site_matrix = _find(request)
    context: dict[str, object] = {"matrix": site_matrix}
    if site_matrix:
        context["pair_table"] = pairs.pair_table(rights.user_of(request), site_matrix, timezone.now())
    return render(request, "results/matrix/_panel.html", context)


@login_required
@require_safe
def download(request: HttpRequest, ending: str) -> HttpResponse:
    """Download the matrix, one line a pair, as CSV or JSON, values in base units."""
    tools, site_matrix = _find(request)
    if site_matrix is None:
        raise Http404
    if missing := _missing(request, tools, site_matrix):
        return downloads.refusal_of(missing)
    rows = flat_rows(site_matrix)
    name = f"matrix-{site_matrix.tool.slug}-{site_matrix.metric.name}.{ending}"
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    if ending == "json":
        return JsonAnswer(rows, safe=False, headers=disposition)
    answer = HttpResponse(content_type="text/csv; charset=utf-8", headers=disposition)
    writer = csv.DictWriter(answer, fieldnames=COLUMNS)
    writer.writeheader()
    writer.writerows({name: downloads.plain(value) for name, value in row.items()} for row in rows)
    return answer


def name_of(site: Any) -> str:
    """Return the site's name, with its team's where the reader is no member of that."""
    return f"{site.name} ({site.foreign_team})" if site.foreign_team else str(site.name)


def age_of(cell: MatrixCell) -> str:
    """Return "3 weeks ago"."""
    return _("%(time)s ago") % {"time": timesince(cell.at, depth=1)}


def chart_of(site_matrix: Matrix) -> dict[str, object]:
    """Return the heat map: rows are where the data came from, columns where it went."""
    names = [name_of(site) for site in site_matrix.sites]
    place = {site.pk: index for index, site in enumerate(site_matrix.sites)}
    values = [cell.value for cell in site_matrix.cells.values()]
    return {
        "kind": "heat",
        "metric": {
            "name": site_matrix.metric.name,
            "label": _(site_matrix.metric.label),
            "unit": site_matrix.metric.unit,
            "log": bool(values) and min(values) > 0 and max(values) >= charts.LOG_FROM * min(values),
        },
        "x": {"name": "to", "label": _("To"), "labels": names},
        "y": {"name": "from", "label": _("From"), "labels": names},
        "cells": [
            {
                "x": place[target],
                "y": place[source],
                "v": cell.value,
                "n": cell.n,
                "note": ", ".join(
                    filter(
                        None,
                        (
                            cell.experiment_name,
                            cell.nodes,
                            cell.setting,
                            f"{cell.at:%Y-%m-%d}",
                            age_of(cell),
                            cell.remark,
                        ),
                    )
                ),
                **(
                    {"flagged": cell.mark.flagged, "flags": cell.mark.text[: charts.LONGEST_FLAGS]}
                    if cell.mark
                    else {}
                ),
                "url": f"{reverse('results:experiment', args=[cell.experiment])}?metric={site_matrix.metric.name}",
            }
            for (source, target), cell in site_matrix.cells.items()
        ],
    }


def _directions(site_matrix: Matrix) -> list[tuple[Site, Site, MatrixCell]]:
    """Return (from, to, cell) by name."""
    sites = {site.pk: site for site in site_matrix.sites}
    listed = [(sites[source], sites[target], cell) for (source, target), cell in site_matrix.cells.items()]
    return sorted(listed, key=lambda each: (each[0].name, each[1].name))


def flat_rows(site_matrix: Matrix) -> list[dict[str, object]]:
    """Return one flat object a pair of sites that has a figure."""
    names = {site.pk: name_of(site) for site in site_matrix.sites}
    return [
        {
            "from": names[source],
            "to": names[target],
            "value": cell.value,
            "unit": site_matrix.metric.unit,
            "samples": cell.n,
            "points": cell.points,
            "nodes": cell.nodes,
            "setting": cell.setting,
            "experiment": cell.experiment,
            "lane": cell.lane,
            "point": cell.point,
            "measured": cell.at.isoformat(),
            "flagged": cell.mark.flagged if cell.mark else 0,
            "flags": cell.mark.counts if cell.mark else {},
            "ceiling": cell.ceiling,
            "passed": cell.passed.rate_bps if cell.passed else None,
        }
        for (source, target), cell in sorted(
            site_matrix.cells.items(), key=lambda pair: (names[pair[0][0]], names[pair[0][1]])
        )
    ]


def _missing(request: HttpRequest, tools: list[Tool], site_matrix: Matrix | None) -> dict[str, list[str]]:
    """Return {parameter: names that there are} of what the address asks for and is not there."""
    metrics = queries.metrics_of(site_matrix.tool) if site_matrix else []
    choices = {"tool": [tool.slug for tool in tools], "metric": [metric.name for metric in metrics]}
    return {name: names for name, names in choices.items() if names and request.GET.get(name, names[0]) not in names}


def _find(request: HttpRequest) -> tuple[list[Tool], Matrix | None]:
    """Return the tools to choose from and the matrix that the address names, None where nothing was measured."""
    user = rights.user_of(request)
    tools = table.tools_between(user)
    if not tools:
        return [], None
    tool = next((item for item in tools if item.slug == request.GET.get("tool")), tools[0])
    metrics = queries.metrics_of(tool)
    metric = next((item for item in metrics if item.name == request.GET.get("metric")), metrics[0])
    return tools, table.matrix_of(user, tool, metric)
