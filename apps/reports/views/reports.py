"""Pages: the reports there are, one as it is now, and freezing it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts import rights
from apps.accounts.models import Role
from apps.campaigns import queries as campaigns
from apps.campaigns.models import Campaign
from apps.core import editing
from apps.core.versions import lock_row
from apps.reports import authors, drafts, forms, queries, readiness, services
from apps.reports.files import html
from apps.reports.models import Report
from apps.reports.truthful import SentencesRefusedError

# Of a campaign's editions the list shows so many; each report has all of its own.
MOST_EDITIONS = 100


@login_required
@require_GET
def report_list(request: HttpRequest) -> HttpResponse:
    """List the reports of the user's teams, of one campaign if asked, with their editions."""
    user = rights.user_of(request)
    rows = queries.with_editions(queries.reports_for(user), user)
    campaign_text = request.GET.get("campaign", "")
    campaign: Campaign | None = None
    if campaign_text.isascii() and campaign_text.isdigit() and len(campaign_text) < 19:
        campaign = campaigns.campaigns_for(user).filter(pk=int(campaign_text)).first()
        rows = rows.filter(campaign=int(campaign_text))
    page = Paginator(rows, 50).get_page(request.GET.get("page"))
    context = {
        "page_obj": page,
        "campaign": campaign,
        "can_write": rights.teams_for(user, Role.OPERATOR).exists(),
        # Whoever sees the campaign reads what was frozen of it, also where another team writes the report.
        "editions": queries.editions_for(user).filter(report__campaign=campaign)[:MOST_EDITIONS] if campaign else [],
    }
    return render(request, "reports/list.html", context)


@login_required
@require_POST
def begin(request: HttpRequest, pk: int) -> HttpResponse:
    """Open the report of a campaign in the language asked for (the reader's unless given), a new one if need be."""
    user = rights.user_of(request)
    campaign = get_object_or_404(campaigns.campaigns_for(user), pk=pk)
    form = forms.LanguageForm({"language": request.POST.get("language") or get_language()})
    if not form.is_valid():
        messages.error(request, _("Choose one of the languages of the service."))
        return redirect(campaign)
    return redirect(services.begin_report(campaign=campaign, user=user, language=form.cleaned_data["language"]))


@login_required
@require_GET
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a report as it is now; with ?edit to its author with what can be changed."""
    user = rights.user_of(request)
    report = get_object_or_404(queries.reports_for(user), pk=pk)
    can_write = rights.can(user, report.team, Role.OPERATOR)
    context: dict[str, object] = {
        "report": report,
        "can_write": can_write,
        "can_edit": can_write and "edit" in request.GET,
        "editions": queries.editions_for(user).filter(report=report),
        "freeze_form": forms.FreezeForm(initial={"latest": report.latest_number}),
        "words": report.edits.get("words", {}),
        "dropped": report.edits.get("dropped", []),
        "own": report.edits.get("own", []),
        "others": _others(report),
    }
    try:
        # Every trial stands in editions and files: of thousands a page would be slow, and nobody reads them there.
        document = drafts.build(report, user, trials=False)
    except ValidationError as error:
        context["refusal"] = " ".join(error.messages)
    else:
        context["page"] = html.page_of(document, report.edits)
        context["unfinished"] = readiness.unfinished_of(report, user, timezone.now())
    return render(request, "reports/detail.html", context)


def _others(report: Report) -> list[tuple[str, Report | None]]:
    """Return the other languages of a campaign's report, each with the report in it, if there is one."""
    if report.campaign is None:
        return []
    reports = queries.reports_of(report.campaign)
    choices = dict(Report._meta.get_field("language").flatchoices)
    return [(language, reports.get(language)) for language in choices if language != report.language]


@login_required
@require_http_methods(["GET", "POST"])
@transaction.atomic
def scope(request: HttpRequest, pk: int) -> HttpResponse:
    """Set a report's title, what it compares with, and what else it tells of."""
    user = rights.user_of(request)
    report = get_object_or_404(queries.reports_for(user), pk=pk)
    rights.require(user, report.team, Role.OPERATOR)
    if request.method == "POST":
        lock_row(report)
        report.refresh_from_db()
    form = editing.guard(forms.ScopeForm(request.POST or None, user=user, report=report))
    if request.method == "POST" and not editing.refuse_stale(form, report) and form.is_valid():
        data = form.cleaned_data
        try:
            authors.set_scope(
                report=report, user=user, title=data["title"], baseline=data["baseline"], also=list(data["also"]),
                views=[view.pk for view in data["views"]],
            )  # fmt: skip
        except ValidationError as error:
            form.add_error(None, error.messages)
        else:
            editing.note_change(report, user.get_username())
            return redirect(report)
    context = {"report": report, "form": form}
    return render(request, "reports/scope.html", context, status=409 if form.conflict else 200)


@login_required
@require_POST
def freeze(request: HttpRequest, pk: int) -> HttpResponse:
    """Freeze a report as it is now; where its tables refute sentences, show them with what would be right (409)."""
    user = rights.user_of(request)
    report = get_object_or_404(queries.reports_for(user), pk=pk)
    rights.require(user, report.team, Role.OPERATOR)
    form = forms.FreezeForm(request.POST)
    if not form.is_valid():
        return _refused(request, report, [str(text) for errors in form.errors.values() for text in errors])
    note, latest, now = form.cleaned_data["note"], form.cleaned_data["latest"], timezone.now()
    is_corrected = "corrected" in request.POST
    try:
        edition = services.freeze_report(
            report=report, user=user, now=now, note=note, is_corrected=is_corrected, after=latest
        )
    except SentencesRefusedError as error:
        context = {"report": report, "sentences": error.sentences, "note": note, "latest": latest}
        return render(request, "reports/refused.html", context, status=409)
    except ValidationError as error:
        return _refused(request, report, error.messages)
    text = _("Edition %(number)s is frozen: it never changes.")
    if edition.created_at != now:
        text = _("This form has frozen edition %(number)s already: load the report again to freeze another.")
    messages.success(request, text % {"number": edition.number})
    return redirect(edition)


@login_required
@require_http_methods(["GET", "POST"])
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a report that was never frozen, once that is confirmed."""
    user = rights.user_of(request)
    report = get_object_or_404(queries.reports_for(user), pk=pk)
    rights.require(user, report.team, Role.OPERATOR)
    if request.method == "GET":
        return render(request, "reports/delete.html", {"report": report})
    try:
        services.delete_report(report=report, user=user)
    except ValidationError as error:
        return _refused(request, report, error.messages)
    messages.success(request, _("The report is deleted."))
    return redirect("reports:list")


def _refused(request: HttpRequest, report: Report, texts: list[str]) -> HttpResponse:
    for text in texts:
        messages.error(request, text)
    return redirect(report)
