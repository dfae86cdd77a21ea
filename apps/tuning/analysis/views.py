"""Page: ask for a campaign's analysis again."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts import rights
from apps.campaigns import queries as campaigns
from apps.tuning.analysis import services


@login_required
@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for it, and show the campaign."""
    user = rights.user_of(request)
    campaign = get_object_or_404(campaigns.campaigns_for(user), pk=pk)
    try:
        services.retry_analysis(campaign=campaign, user=user)
    except ValidationError as error:
        for text in error.messages:
            messages.error(request, text)
    else:
        messages.success(request, _("The results are analysed again; the findings appear here."))
    return redirect(campaign)
