"""Pages of what was frozen: an edition, its data, and where a reference leads."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET

from apps.accounts import rights
from apps.accounts.models import Role
from apps.campaigns import references
from apps.reports import queries
from apps.reports.files import html
from apps.reports.models import Edition

# Of a report on very many campaigns a page names so many; the JSON has all.
SHOWN_REFERENCES = 200


@require_GET
def edition(request: HttpRequest, permanent_id: str) -> HttpResponse:
    """Show an edition to whoever may see what it is of."""
    shown_edition = _found(request, permanent_id)
    others = queries.editions_for(request.user).filter(report=shown_edition.report_id).order_by("-number")
    context = {
        "edition": shown_edition,
        "report": shown_edition.report,
        "is_intact": shown_edition.is_intact or not shown_edition.canonical,
        "page": html.page_of(shown_edition.document) if shown_edition.canonical else None,
        "too_long": queries.TOO_LONG,
        "editions": others,
        "rests_on": html.references_of(shown_edition.rests_on[:SHOWN_REFERENCES]),
        "can_write": rights.can(request.user, shown_edition.report.team, Role.OPERATOR),
    }
    return render(request, "reports/edition.html", context)


@require_GET
def document(request: HttpRequest, permanent_id: str) -> HttpResponse:
    """Return the canonical JSON of an edition, of which the checksum was taken that its reader is shown."""
    shown_edition = _found(request, permanent_id)
    if not shown_edition.canonical:
        messages.warning(request, queries.TOO_LONG)
        return redirect(shown_edition)
    return HttpResponse(
        shown_edition.canonical,
        content_type="application/json; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{shown_edition.permanent_id}.json"'},
    )


@require_GET
def reference(request: HttpRequest, ref: str) -> HttpResponse:
    """Lead to what a reference of a report names, if it is here and the reader may see it."""
    address = None if ref.startswith("https:") else references.resolve(ref, request.user)
    if address is None:
        raise Http404
    return redirect(address)


def _found(request: HttpRequest, permanent_id: str) -> Edition:
    rows = queries.with_marked(queries.editions_for(request.user))
    return queries.as_shown_to(get_object_or_404(rows, permanent_id=permanent_id.replace("\0", "")), request.user)
