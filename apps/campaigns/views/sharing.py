"""The page that says who sees a campaign."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from apps.accounts import rights
from apps.accounts.models import Role
from apps.campaigns import queries, services
from apps.campaigns.forms.sharing import SharingForm
from apps.campaigns.models import Campaign
from apps.campaigns.views.campaigns import find_campaign
from apps.core import editing
from apps.core.forms import add_errors
from apps.core.versions import lock_row


@login_required
@transaction.atomic
def sharing(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the form, and keep what it says; 422 with the reasons where that does not fit."""
    campaign = find_campaign(request, pk)
    rights.require(request.user, campaign.team, Role.OPERATOR)
    if request.method != "POST":
        form = editing.guard(SharingForm(instance=campaign))
        return render(request, "campaigns/sharing.html", _context(campaign, form))
    lock_row(campaign)
    form = editing.guard(SharingForm(request.POST, instance=find_campaign(request, pk)))
    if not editing.refuse_stale(form, campaign) and form.is_valid():
        try:
            services.share_campaign(campaign=campaign, user=rights.user_of(request), **form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            editing.note_change(campaign, rights.user_of(request).get_username())
            messages.success(request, _("Who sees the campaign is changed."))
            return redirect("campaigns:campaign_detail", pk=pk)
    status = 409 if form.conflict else 422
    return render(request, "campaigns/sharing.html", _context(campaign, form), status=status)


def _context(campaign: Campaign, form: Any) -> dict[str, Any]:
    return {"campaign": campaign, "form": form, "offers": queries.offers_of(campaign)}
