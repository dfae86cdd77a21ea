"""Pages of comparisons: the comparison itself, one more set, downloads, and views kept under a name."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.accounts import rights
from apps.accounts.models import Role
from apps.accounts.pages import DeletePage
from apps.bench.text import Message
from apps.comparison.comparisons import queries
from apps.comparison.comparisons.choice import choose
from apps.comparison.comparisons.comparison import compare
from apps.comparison.comparisons.forms import SetForm, ViewForm
from apps.comparison.comparisons.gathering import gather
from apps.comparison.comparisons.presentation import downloads, page
from apps.comparison.comparisons.state import MOST_SETS, read_state, read_text
from apps.comparison.models import SavedView
from apps.core import garbage, messages
from apps.core.json_answers import JsonAnswer
from apps.results.saved_queries import KeptCreate, KeptList, KeptUpdate


@login_required
@require_GET
@garbage.seldom()
def show_comparison(request: HttpRequest) -> HttpResponse:
    """Show the sets of the address side by side."""
    state, errors = read_state(request.GET)
    user = rights.user_of(request)
    context: dict[str, Any] = {
        "state": state,
        "query": state.as_query(),
        "can_add": len(state.sets) < MOST_SETS,
        "can_save": rights.teams_for(user, Role.OPERATOR).exists(),
    }
    if state.sets:
        comparison = compare(gather(choose(state, user)))
        context |= page.page_of(comparison, request.GET.get("page"))
        errors |= comparison.missing
    else:
        context |= {"views": queries.views_for(user)[:10], "set_form": SetForm(user=user, auto_id="set-%s")}
    context["errors"] = messages.render_errors(errors)
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
    context = {"state": state, "errors": messages.render_errors(errors), "query": state.as_query(), "set_form": form}
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
    comparison = compare(gather(choose(state, rights.user_of(request))))
    if comparison.missing:
        return _refused(comparison.missing)
    return downloads.csv_of(comparison) if ending == "csv" else downloads.json_of(comparison)


def _refused(errors: Mapping[str, Sequence[Message]]) -> JsonAnswer:
    fields = messages.render_errors(errors)
    return JsonAnswer({"detail": _("Some fields are wrong: see “fields”."), "fields": fields}, status=400)


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
