"""Pages of comparisons: the comparison itself, one more set, downloads, and views kept under a name."""

import json
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from apps.accounts import rights
from apps.accounts.models import Role
from apps.accounts.pages import DeletePage
from apps.bench.text import Message
from apps.comparison.comparisons import chart_data, contrast, downloads, factors, part_names, queries, tables
from apps.comparison.comparisons.contrast import Comparison
from apps.comparison.comparisons.factors import VariedFactor
from apps.comparison.comparisons.forms import SetForm, ViewForm
from apps.comparison.comparisons.state import CHARTS, MOST_SETS, read_state, read_text
from apps.comparison.comparisons.told import has_told
from apps.comparison.models import SavedView
from apps.core import garbage, messages
from apps.results.saved_queries import KeptCreate, KeptList, KeptUpdate

# So many lines of the table stand on one page.
LINES = 50
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


@login_required
@require_GET
@garbage.seldom()
def compare(request: HttpRequest) -> HttpResponse:
    """Show the sets of the address side by side."""
    state, errors = read_state(request.GET)
    user = rights.user_of(request)
    context: dict[str, Any] = {
        "state": state,
        "errors": texts_of(errors),
        "query": state.as_query(),
        "can_add": len(state.sets) < MOST_SETS,
        "can_save": rights.teams_for(user, Role.OPERATOR).exists(),
    }
    if state.sets:
        comparison = contrast.compare(state, user)
        context |= _page_context(request, comparison)
        context["errors"] = texts_of(errors | comparison.missing)
    else:
        context |= {"views": queries.views_for(user)[:10], "set_form": SetForm(user=user, auto_id="set-%s")}
    return render(request, "results/comparison/compare.html", context)


@login_required
@require_GET
def add_set(request: HttpRequest) -> HttpResponse:
    """Ask for one more set and go on to the comparison with it; show again a form that makes none."""
    state, errors = read_text(request.GET.get("query", ""))
    is_filled = bool(request.GET.keys() - {"query"})
    form = SetForm(request.GET if is_filled else None, user=rights.user_of(request), auto_id="set-%s")
    if is_filled and len(state.sets) >= MOST_SETS:
        form.add_error(None, _("At most %(most)s sets are compared at once.") % {"most": MOST_SETS})
    if form.is_valid():
        return redirect(f"{reverse('comparison:compare')}?{state.with_set(form.cleaned_data['set']).as_query()}")
    context = {"state": state, "errors": texts_of(errors), "query": state.as_query(), "set_form": form}
    return render(request, "results/comparison/add.html", context, status=400 if is_filled else 200)


@login_required
@require_GET
@garbage.seldom()
def download(request: HttpRequest, ending: str) -> HttpResponse:
    """Download the comparison as CSV or JSON; 400 says what of the address cannot be read."""
    state, errors = read_state(request.GET)
    if not state.sets and not errors:
        errors = {"set": [Message(_("Choose a set first."))]}
    if errors:
        return _refused(errors)
    comparison = contrast.compare(state, rights.user_of(request))
    if comparison.missing:
        return _refused(comparison.missing)
    return downloads.csv_of(comparison) if ending == "csv" else downloads.json_of(comparison)


def _refused(errors: dict[str, list[Message]]) -> JsonResponse:
    return JsonResponse({"detail": _("Some fields are wrong: see “fields”."), "fields": texts_of(errors)}, status=400)


def texts_of(errors: dict[str, list[Message]]) -> dict[str, list[str]]:
    """Return errors by field in the reader's language."""
    return {name: [messages.render(text) for text in texts] for name, texts in errors.items()}


def _page_context(request: HttpRequest, comparison: Comparison) -> dict[str, Any]:
    """Return what the page shows of a comparison."""
    page = Paginator(tables.lines_of(comparison), LINES).get_page(request.GET.get("page"))
    # Before the remarks, for those say so if one of the parts fails.
    none: list[Any] = []
    charts = comparison.compute_part(part_names.CHART, lambda: chart_data.charts_of(comparison), none)
    importance = comparison.compute_part(part_names.IMPORTANCE, lambda: tables.importance_of(comparison), none)
    hidden = [
        factor
        for factor in comparison.named
        if factor not in (comparison.axis, comparison.series)
        and (factor.is_parameter or comparison.varies_within(factor))
    ]
    return {
        "made": comparison,
        "metric": comparison.metric,
        "charts": [(title, json.dumps(data)) for title, data in charts],
        "chart_remark": chart_data.remark_of(comparison, charts),
        "undrawn": chart_data.undrawn(comparison),
        "statistic": contrast.statistic_label(comparison),
        "sets": [
            {
                "title": title,
                "text": result_set.as_text(),
                "n": sum(len(row.values) for row in rows),
                "without": comparison.state.without_set(place).as_query(),
                "is_baseline": place == comparison.state.baseline,
                "is_told": has_told(comparison.gathered, comparison.gathered.rows[place]),
            }
            for place, (title, result_set, rows) in enumerate(
                zip(comparison.titles, comparison.state.sets, comparison.gathered.rows, strict=True)
            )
        ],
        "choices": {
            "axis": _axes(comparison),
            "series": [factor for factor in comparison.named if factor != comparison.axis],
            "fix": [
                {
                    "factor": factor,
                    "chosen": comparison.state.fixed_value(factor.name),
                    "options": list(zip(factor.keys, factor.texts, strict=True))[: tables.MOST_OPTIONS],
                }
                for factor in hidden
            ],
            "baseline": _baselines(comparison),
            "charts": [(name, _CHART_NAMES[name]) for name in CHARTS],
            "logs": list(_LOG_NAMES.items()),
        },
        "baseline": contrast.baseline_title(comparison),
        "columns": tables.columns_of(comparison),
        "page_obj": page,
        "lines": [tables.line_of(comparison, place) for place in page.object_list],
        "overall": tables.overall_of(comparison),
        "remarks": [(remark.level.value, messages.render(remark.message)) for remark in comparison.remarks],
        "differences": [
            {"topic": item.topic, "name": item.name, "values": [sorted(map(str, values)) for values in item.values]}
            for item in comparison.deviations
        ],
        "trial_base": reverse("results:trial", args=[0]).removesuffix("0/"),
        "reasons": comparison.gathered.invalid.most_common(),
        "importance": importance,
        "downloads": {
            ending: f"{reverse(f'comparison:{ending}')}?{comparison.state.as_query()}" for ending in ("csv", "json")
        },
    }


def _axes(comparison: Comparison) -> list[VariedFactor]:
    """Return what can be on the axis: the sets, what varies, and what is there though it does not vary."""
    axes = [factors.of_sets(comparison.titles), *comparison.named] if len(comparison.titles) > 1 else comparison.named
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
            pairs = list(zip(factor.keys, factor.texts, strict=True))[: tables.MOST_OPTIONS]
            baselines += [(f"{kind}:{key}", f"{factor.label} {text}", key == chosen) for key, text in pairs]
    return baselines


URL_BASE = "comparison:view"


class ViewList(KeptList):
    """The views of one's teams."""

    model = SavedView
    url_base = URL_BASE

    template_name = "results/comparison/views.html"


class ViewCreate(KeptCreate):
    """Keep a comparison under a name."""

    model = SavedView
    url_base = URL_BASE

    form_class = ViewForm
    template_name = "results/comparison/view_form.html"


class ViewUpdate(KeptUpdate):
    """Change the name of a view."""

    model = SavedView
    url_base = URL_BASE

    form_class = ViewForm
    template_name = "results/comparison/view_form.html"


class ViewDelete(DeletePage):
    """Forget a view; the results stay."""

    model = SavedView
    url_base = URL_BASE
