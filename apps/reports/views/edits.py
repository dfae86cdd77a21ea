"""Addresses to which an author's changes are sent; each leads back to where it was made."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from apps.accounts import rights
from apps.accounts.models import Role
from apps.core import editing
from apps.core.versions import lock_row
from apps.reports import authors, queries
from apps.reports.models import Report

Shown = Callable[[Report], dict[str, str]]


@transaction.atomic
def _change(
    request: HttpRequest, pk: int, act: Callable[[Report], None], place: str, form_fields: Shown | None = None
) -> HttpResponse:
    """Do it and go back to the place of the page; what is wrong is told there.

    `form_fields` returns what the form shows of a report, by field: it is not undone unseen (409).
    """
    report = get_object_or_404(queries.reports_for(rights.user_of(request)), pk=pk)
    # Before anything is said of what is wrong: who may not write is told that, and nothing else.
    rights.require(request.user, report.team, Role.OPERATOR)
    lock_row(report)
    report.refresh_from_db()
    if form_fields and (conflict := editing.page_conflict(request, report, form_fields(report))):
        return editing.conflict_page(request, conflict)
    try:
        act(report)
    except ValidationError as error:
        for text in error.messages:
            messages.error(request, text)
    else:
        editing.note_change(report, rights.user_of(request).get_username())
    return HttpResponseRedirect(f"{report.get_absolute_url()}?edit=1#{place}")


@login_required
@require_POST
def words(request: HttpRequest, pk: int) -> HttpResponse:
    """Replace a paragraph's words, or bring the generated ones back."""
    key = request.POST.get("key", "")
    text = "" if "restore" in request.POST else request.POST.get("text", "")

    def act(report: Report) -> None:
        authors.set_words(report=report, user=rights.user_of(request), key=key, text=text)

    return _change(request, pk, act, f"text-{key}", lambda report: {"text": _edited(report, "words", key)})


@login_required
@require_POST
def remark(request: HttpRequest, pk: int) -> HttpResponse:
    """Set the remark at the end of a section."""
    key, text = request.POST.get("key", ""), request.POST.get("text", "")

    def act(report: Report) -> None:
        authors.set_remark(report=report, user=rights.user_of(request), key=key, text=text)

    return _change(request, pk, act, f"section-{key}", lambda report: {"text": _edited(report, "remarks", key)})


@login_required
@require_POST
def drop(request: HttpRequest, pk: int) -> HttpResponse:
    """Leave a section, figure or table out, or bring it back."""
    key, user = request.POST.get("key", ""), rights.user_of(request)

    def act(report: Report) -> None:
        (authors.bring_back if "back" in request.POST else authors.leave_out)(report=report, user=user, key=key)

    return _change(request, pk, act, "outline")


@login_required
@require_POST
def move(request: HttpRequest, pk: int) -> HttpResponse:
    """Move a section up or down among those that the page showed."""
    up, down = request.POST.get("up", ""), request.POST.get("down", "")

    def act(report: Report) -> None:
        keys = request.POST.getlist("order")
        authors.move(report=report, user=rights.user_of(request), keys=keys, key=up or down, by=-1 if up else 1)

    return _change(request, pk, act, "outline")


@login_required
@require_POST
def own(request: HttpRequest, pk: int) -> HttpResponse:
    """Write a section of one's own, or take it away."""
    key = request.POST.get("key", "")
    title = "" if "remove" in request.POST else request.POST.get("title", "")

    def act(report: Report) -> None:
        text = request.POST.get("text", "")
        authors.write_own(report=report, user=rights.user_of(request), key=key, title=title, text=text)

    def shown(report: Report) -> dict[str, str]:
        own: dict[str, str] = next((item for item in report.edits.get("own", ()) if item["key"] == key), {})
        return {"title": own.get("title", ""), "text": own.get("text", "")}

    return _change(request, pk, act, "own", shown)


def _edited(report: Report, name: str, key: str) -> str:
    """Return what an author wrote at a place, "" for nothing."""
    texts: dict[str, str] = report.edits.get(name, {})
    return texts.get(key, "")
