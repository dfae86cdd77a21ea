"""Pages: the sites that were measured together, and what limits the way to data between two of them."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.accounts import scoping
from apps.accounts.models import Role
from apps.bench.rules.base import as_plain
from apps.core.messages import render as text_of
from apps.testbeds.models import Site
from apps.tuning import proposals
from apps.tuning.sites import queries


@login_required
@require_GET
def site_list(request: HttpRequest) -> HttpResponse:
    """List the pairs of sites that were measured."""
    page = Paginator(queries.pairs_for(scoping.user_of(request)), 50).get_page(request.GET.get("page"))
    return render(request, "tuning/sites/list.html", {"page_obj": page})


@login_required
@require_GET
def site_layers(request: HttpRequest, a: int, b: int) -> HttpResponse:
    """Show network, disk and file systems between two sites side by side, and which of them is the limit."""
    sites = _sites(request, a, b)
    found = queries.layers_of(*sites)
    context = {"found": found, "can_write": scoping.can(request.user, found.a.team, Role.OPERATOR)}
    return render(request, "tuning/sites/detail.html", context)


@login_required
@require_POST
def draft(request: HttpRequest, a: int, b: int) -> HttpResponse:
    """Make a draft of the experiments that one table lacks."""
    sites = _sites(request, a, b)
    found = queries.layers_of(*sites)
    place = request.POST.get("table", "")
    if not place.isascii() or not place.isdigit() or int(place) >= len(found.tables):
        messages.error(request, _("What was to be measured is not missing any more: look at the tables again."))
        return redirect("tuning:site_layers", a=a, b=b)
    table = found.tables[int(place)]
    try:
        campaign = proposals.draft_proposals(
            team=found.a.team,
            user=scoping.user_of(request),
            name=_("Layers of %(file_system)s between %(a)s and %(b)s")
            % {"file_system": table.file_system, "a": found.a.name, "b": found.b.name},
            goal=" ".join(text_of(message) for message in table.missing),
            proposals=[as_plain(proposal) for proposal in table.proposals],
            now=timezone.now(),
        )
    except ValidationError as error:
        for message in error.messages:
            messages.error(request, message)
        return redirect("tuning:site_layers", a=a, b=b)
    messages.success(request, _("This is a draft: look at it, and launch it."))
    return redirect("campaigns:campaign_detail", pk=campaign.pk)


def _sites(request: HttpRequest, a: int, b: int) -> tuple[Site, Site]:
    """Return the two sites; Http404 if the user may not see one, or they are of two teams."""
    sites = queries.sites_for(scoping.user_of(request), a, b)
    if sites is None:
        raise Http404
    return sites[0], sites[1]
