"""Pages: the files of an edition or a draft, asked for, watched and fetched."""

import contextlib
from collections.abc import Iterator

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods
from rest_framework.request import Request

from apps.accounts import rights
from apps.core.streams import JOINED_BYTES, send
from apps.reports import queries as reports
from apps.reports.files import queries, services
from apps.reports.files.formats import FORMATS
from apps.reports.models import Edition, Rendering, Report


@require_http_methods(["GET", "POST"])
def edition_files(request: HttpRequest, permanent_id: str) -> HttpResponse:
    """Return the partial with an edition's files; posting a format, signed in, asks for one."""
    if request.method == "POST" and not request.user.is_authenticated:
        return redirect_to_login(reverse("reports:edition", args=[permanent_id]))
    permanent_id_text = permanent_id.replace("\0", "")
    editions = reports.with_marked(reports.editions_for(request.user))
    edition = get_object_or_404(editions, permanent_id=permanent_id_text)
    address = reverse("renderings:edition", args=[permanent_id])
    return _files(request, edition.report, edition, address, edition.get_absolute_url())


@login_required
@require_http_methods(["GET", "POST"])
def draft_files(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the partial with one's own files of a report's draft; posting a format asks for a new one."""
    report = get_object_or_404(reports.reports_for(rights.user_of(request)), pk=pk)
    return _files(request, report, None, reverse("renderings:draft", args=[pk]), report.get_absolute_url())


@require_GET
def file(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Hand a file out to whoever may read what it is of."""
    return hand_out(request, get_object_or_404(queries.renderings_for(request.user), pk=pk))


def hand_out(request: HttpRequest | Request, rendering: Rendering) -> StreamingHttpResponse:
    """Return the file of a rendering; Http404 if there is none (yet), or it is not whole any more."""
    try:
        file = services.opened(rendering)
    except FileNotFoundError as error:
        text = _("There is no such file (any more): ask for it again, and fetch it once its state is “done”.")
        raise Http404(text) from error

    def pieces() -> Iterator[bytes]:
        with file:
            while piece := file.read(JOINED_BYTES):
                yield piece

    with contextlib.ExitStack() as ends:
        # Who has no place is refused, and reads nothing of it.
        ends.callback(file.close)
        name, kind, owner = rendering.file_name, rendering.kind.content_type, f"team {rendering.report.team_id}"
        answer = send(request, pieces, name=name, kind=kind, reads_database=False, owner=owner, size=rendering.size)
        ends.pop_all()
    return answer


def _files(request: HttpRequest, report: Report, edition: Edition | None, address: str, page: str) -> HttpResponse:
    if request.method == "POST":
        name = request.POST.get("format", "")
        if name not in FORMATS:
            raise Http404
        services.request_rendering(
            report=report, edition=edition, name=name, user=rights.user_of(request), now=timezone.now()
        )
        if not request.headers.get("HX-Request"):
            return redirect(page)
    offers = queries.offers_of(report, edition, request.user, now=timezone.now())
    is_open = any(offer.rendering and offer.rendering.is_open for offer in offers)
    context = {
        "offers": offers,
        "is_open": is_open,
        "address": address,
        "edition": edition,
        "is_draft": edition is None,
    }
    return render(request, "reports/_files.html", context)
