"""The page that says who sees a campaign."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from apps.accounts import scoping
from apps.accounts.models import Role
from apps.campaigns import services
from apps.campaigns.forms.sharing import SharingForm
from apps.campaigns.views.campaigns import find_campaign
from apps.core.forms import add_errors


@login_required
def sharing(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the form, and keep what it says; 422 with the reasons where that does not fit."""
    campaign = find_campaign(request, pk)
    scoping.require(request.user, campaign.team, Role.OPERATOR)
    if request.method != "POST":
        return render(
            request, "campaigns/sharing.html", {"campaign": campaign, "form": SharingForm(instance=campaign)}
        )
    form = SharingForm(request.POST, instance=find_campaign(request, pk))
    if form.is_valid():
        try:
            services.share_campaign(campaign=campaign, user=scoping.user_of(request), **form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            messages.success(request, _("Who sees the campaign is changed."))
            return redirect("campaigns:campaign_detail", pk=pk)
    return render(request, "campaigns/sharing.html", {"campaign": campaign, "form": form}, status=422)
