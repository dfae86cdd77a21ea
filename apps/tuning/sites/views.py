"""Pages: the sites that were measured together, and what limits the way to data between two of them."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import rights
from apps.accounts.models import Role
from apps.testbeds.models import Site
from apps.tuning import answers
from apps.tuning.sites import queries, services


@login_required
@require_GET
def site_list(request: HttpRequest) -> HttpResponse:
    """List the pairs of sites that were measured."""
    page = Paginator(queries.pairs_for(rights.user_of(request)), 50).get_page(request.GET.get("page"))
    return render(request, "tuning/sites/list.html", {"page_obj": page})


@login_required
@require_GET
def site_layers(request: HttpRequest, a: int, b: int) -> HttpResponse:
    """Show network, disk and file systems between two sites side by side, and which of them is the limit."""
    sites = _sites(request, a, b)
    layers = queries.layers_of(*sites)
    context = {"found": layers, "can_write": rights.can(request.user, layers.a.team, Role.OPERATOR)}
    return render(request, "tuning/sites/detail.html", context)


@login_required
@require_POST
def draft(request: HttpRequest, a: int, b: int) -> HttpResponse:
    """Make a draft of the experiments that one table lacks."""
    sites = _sites(request, a, b)
    layers = queries.layers_of(*sites)
    return answers.show_draft(
        request,
        lambda: (
            services.draft_missing(
                layers=layers,
                table=answers.place_of(request.POST.get("table", "")),
                user=rights.user_of(request),
                now=timezone.now(),
            ).pk
        ),
        reverse("tuning:site_layers", args=[a, b]),
    )


def _sites(request: HttpRequest, a: int, b: int) -> tuple[Site, Site]:
    """Return the two sites; Http404 if the user may not see one, or they are of two teams."""
    sites = queries.sites_for(rights.user_of(request), a, b)
    if sites is None:
        raise Http404
    return sites[0], sites[1]
