"""Pages: campaigns that other teams offer to one's own."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts import rights
from apps.accounts.models import Role
from apps.campaigns import errors, queries
from apps.campaigns.models import Share
from apps.campaigns.services import offers

PAGE = 50


@login_required
@require_safe
def offer_list(request: HttpRequest) -> HttpResponse:
    """Show what is offered to the person's teams, and what these accepted."""
    user = rights.user_of(request)
    page = Paginator(queries.offers_to(user), PAGE).get_page(request.GET.get("page"))
    own = set(rights.teams_for(user, Role.OPERATOR).values_list("pk", flat=True))
    return render(request, "campaigns/offers.html", {"page_obj": page, "own": own})


@login_required
@require_POST
def accept(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a campaign among those that the team sees."""
    try:
        share = offers.accept(share=_offer(request, pk), user=rights.user_of(request), now=timezone.now())
    except errors.WrongState as refused:
        messages.error(request, " ".join(refused.messages))
        return redirect("campaigns:offers")
    messages.success(request, _("The campaign is now seen by your team, and counted with your own."))
    return redirect("campaigns:campaign_detail", pk=share.campaign_id)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def decline(request: HttpRequest, pk: int) -> HttpResponse:
    """Refuse an offer, or let go of what was accepted, after asking."""
    share = _offer(request, pk)
    if request.method != "POST":
        return render(request, "campaigns/offer_decline.html", {"share": share})
    offers.decline(share=share, user=rights.user_of(request), now=timezone.now())
    text = _("Your team let go of the campaign.") if share.is_accepted else _("The offer was declined.")
    messages.success(request, text)
    return redirect("campaigns:offers")


def _offer(request: HttpRequest, pk: int) -> Share:
    """Return an offer to one of the person's teams, of which they are an operator."""
    user = rights.user_of(request)
    share = get_object_or_404(queries.offers_to(user), pk=pk)
    rights.require(user, offers.team_of(share), Role.OPERATOR)
    return share
