"""A trial marked invalid, and that undone, from its page."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts import rights
from apps.campaigns import queries
from apps.results import validity


@login_required
@require_POST
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark the trial for the reason given, or undo the mark (`undo`)."""
    user = rights.user_of(request)
    trial = get_object_or_404(queries.trials_for(user).select_related("campaign__team"), pk=pk)
    try:
        if "undo" in request.POST:
            validity.unmark_invalid(trial=trial, user=user)
            done = _("The trial counts again.")
        else:
            reason = request.POST.get("reason", "").replace("\0", "")
            validity.mark_invalid(trial=trial, user=user, reason=reason, now=timezone.now())
            done = _("The trial is left out of all statistics. You can undo it here.")
    except ValidationError as error:
        for text in error.messages:
            messages.error(request, text)
    else:
        messages.success(request, done)
    return redirect("results:trial", pk=pk)
