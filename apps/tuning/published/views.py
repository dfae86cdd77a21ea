"""The page that imports published figures."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.accounts.team_imports import importer
from apps.core.forms import add_errors
from apps.tuning.published import forms, importing


@login_required
@require_http_methods(["GET", "POST"])
def import_page(request: HttpRequest) -> HttpResponse:
    """Ask for a file, import it, and show what it made and what does not agree in it."""
    user = importer(request)
    form = forms.PublishedImportForm(request.POST or None, request.FILES or None, user=user)
    done = None
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            done = importing.import_published(
                team=values["team"], text=values["published"], facts=values["facts"], now=timezone.now(), user=user
            )
        except ValidationError as error:
            add_errors(form, error)
        else:
            words = {"new": len(done.created), "changed": len(done.changed), "same": len(done.same)}
            messages.success(request, _("Cases: %(new)s new, %(changed)s changed, %(same)s the same.") % words)
    status = 422 if form.is_bound and not done else 200
    return render(request, "tuning/published/import.html", {"form": form, "done": done}, status=status)
