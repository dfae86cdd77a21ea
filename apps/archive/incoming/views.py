"""Pages of archives: a campaign's sent, and those of elsewhere taken in."""

from django.contrib import messages as notices
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts import rights
from apps.accounts.models import Role
from apps.accounts.team_imports import importer
from apps.archive.campaigns.form import ArchiveError
from apps.archive.campaigns.writer import archive_of
from apps.archive.incoming import forms, progress, queries, services
from apps.archive.incoming.models import IncomingArchive
from apps.campaigns import queries as campaigns
from apps.core import messages
from apps.core.forms import add_errors
from apps.core.streams import send

SHOWN = 50


@login_required
@require_GET
def download(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send a campaign as an archive."""
    campaign = get_object_or_404(campaigns.campaigns_for(rights.user_of(request)), pk=pk)
    now, reader = timezone.now(), rights.user_of(request)
    try:
        archive_of(campaign, now=now, reader=reader)
    except ArchiveError as error:
        notices.error(request, messages.render(error.message))
        return redirect(campaign)
    name = f"{slugify(campaign.name)[:60] or 'campaign'}-{campaign.permanent_id}.zip"
    return send(request, lambda: archive_of(campaign, now=now, reader=reader), name=name, kind="application/zip")


@login_required
@require_http_methods(["GET", "POST"])
def receive(request: HttpRequest) -> HttpResponse:
    """Ask for an archive, take it, and list those that were sent."""
    user = importer(request)
    form = forms.SendArchiveForm(request.POST or None, request.FILES or None, user=user)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect(
                services.take(team=form.cleaned_data["team"], user=user, file=form.cleaned_data["archive"])
            )
        except ValidationError as error:
            add_errors(form, error)
    context = {"form": form, "sent": _visible(request)[:SHOWN]}
    return render(request, "reports/exports/receive.html", context, status=422 if form.is_bound else 200)


@login_required
@require_http_methods(["GET", "POST"])
def incoming(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an archive: its progress, what is to be decided, or what became of it."""
    archive = progress.with_progress(get_object_or_404(_visible(request), pk=pk))
    can_write = rights.can(request.user, archive.team, Role.OPERATOR)
    can_decide = archive.is_undecided and archive.path.is_file()
    form = (
        forms.ChoicesForm(request.POST or None, incoming=archive, user=rights.user_of(request))
        if can_decide
        else None
    )
    if request.method == "POST":
        rights.require(request.user, archive.team, Role.OPERATOR)
        if form is None:
            notices.error(request, _("It waits for no decision: look at its state."))
            return redirect(archive)
        if form.is_valid():
            try:
                services.agree(incoming=archive, user=rights.user_of(request), **form.choices())
                return redirect(archive)
            except ValidationError as error:
                add_errors(form, error)
    before = services.before(archive, now=timezone.now())
    context = {"incoming": archive, "before": before, "form": form, "can_write": can_write}
    is_fragment = request.headers.get("HX-Request") and request.method == "GET"
    template = "reports/exports/_incoming.html" if is_fragment else "reports/exports/incoming.html"
    return render(request, template, context, status=422 if form and form.is_bound else 200)


@login_required
@require_POST
def give_up(request: HttpRequest, pk: int) -> HttpResponse:
    """Forget an archive that was sent."""
    archive = get_object_or_404(_visible(request), pk=pk)
    try:
        services.give_up(incoming=archive, user=rights.user_of(request))
    except ValidationError as error:
        notices.error(request, " ".join(error.messages))
        return redirect(archive)
    notices.success(request, _("The file that was sent is gone."))
    return redirect("exports:receive")


def _visible(request: HttpRequest) -> QuerySet[IncomingArchive]:
    return queries.archives_for(rights.user_of(request))
