"""Pages of the archive: the search with its facets, searches kept under names, and what was measured already."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import rights
from apps.accounts.models import Role, Team
from apps.accounts.pages import DeletePage
from apps.archive.search import entries, facets, queries
from apps.archive.search.already import already as look_up
from apps.archive.search.conditions import known_to
from apps.archive.search.forms import SavedSearchForm
from apps.archive.search.models import SavedSearch
from apps.archive.search.state import SORTS, read_search
from apps.bench.toolkit import Tool
from apps.campaigns import forms as campaign_forms
from apps.campaigns import queries as campaigns
from apps.campaigns import services
from apps.campaigns.expansion import expand_experiment
from apps.campaigns.models import Experiment
from apps.campaigns.turns import sweep_turn
from apps.comparison.comparisons.state import MOST_SETS
from apps.core import messages
from apps.results.saved_queries import KeptCreate, KeptList, KeptUpdate
from apps.toolbox import queries as toolbox

PAGE = 25
# So many experiments that could not be indexed are named.
MOST_NOT_INDEXED = 10
_SORT_NAMES = {
    "newest": gettext_lazy("newest first"),
    "oldest": gettext_lazy("oldest first"),
    "name": gettext_lazy("by name"),
}
URL_BASE = "archive:saved"


@login_required
@require_GET
def search(request: HttpRequest) -> HttpResponse:
    """Show what a search finds, and what it can be narrowed by."""
    user = rights.user_of(request)
    names = known_to(user)
    question, errors = read_search(request.GET, names)
    page = Paginator(queries.with_details(queries.find(question, user)), PAGE).get_page(request.GET.get("page"))
    facet_list = facets.facets_of(question, user)
    context = {
        "search": question,
        "query": question.as_query(),
        "errors": [messages.render(text) for texts in errors.values() for text in texts],
        "page_obj": page,
        "hits": queries.hits_of(page.object_list, question),
        "facets": facet_list,
        "chips": facets.chips_of(question, facet_list, names),
        "parameters": sorted(((name, _(item[0].label)) for name, item in names.parameters.items()), key=_by_label),
        "metrics": sorted(((name, _(item[0].label)) for name, item in names.metrics.items()), key=_by_label),
        "sorts": [(name, _SORT_NAMES[name]) for name in SORTS],
        "most_sets": MOST_SETS,
        "not_indexed": entries.failed(user)[:MOST_NOT_INDEXED],
        "saved": queries.searches_for(user)[:10],
        "can_save": rights.teams_for(user, Role.OPERATOR).exists(),
    }
    return render(request, "results/search/archive.html", context)


@login_required
@require_POST
def already(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the partial that says what of an experiment, as typed so far, was measured already."""
    user = rights.user_of(request)
    campaign = get_object_or_404(campaigns.campaigns_for(user), pk=pk)
    rights.require(user, campaign.team, Role.OPERATOR)
    tool = _tool_of(request, campaign.team)
    form = campaign_forms.ExperimentForm(request.POST, tool=tool, campaign=campaign) if tool else None
    context: dict[str, Any] = {"found": None}
    with sweep_turn(user):
        if form and form.is_valid():
            values = form.values()
            roles = values.pop("roles")
            experiment = Experiment(campaign=campaign, **values)
            try:
                expansion = expand_experiment(experiment, services.players_of(experiment, roles))
            except ValidationError:
                # What is wrong with it stands beside the form.
                pass
            else:
                context["found"] = look_up(expansion, user)
    return render(request, "results/search/_already.html", context)


def _by_label(pair: tuple[str, str]) -> str:
    return pair[1].lower()


def _tool_of(request: HttpRequest, team: Team) -> Tool | None:
    slug = request.POST.get("tool", "")
    return next((tool for tool in toolbox.tools_for(team, also=slug) if tool.slug == slug), None)


class SavedList(KeptList):
    """The searches of one's teams."""

    model = SavedSearch
    url_base = URL_BASE

    template_name = "results/search/saved.html"


class SavedCreate(KeptCreate):
    """Keep a search under a name."""

    model = SavedSearch
    url_base = URL_BASE

    form_class = SavedSearchForm
    template_name = "results/search/saved_form.html"


class SavedUpdate(KeptUpdate):
    """Change the name of a search."""

    model = SavedSearch
    url_base = URL_BASE

    form_class = SavedSearchForm
    template_name = "results/search/saved_form.html"


class SavedDelete(DeletePage):
    """Forget a search; what it finds stays."""

    model = SavedSearch
    url_base = URL_BASE
