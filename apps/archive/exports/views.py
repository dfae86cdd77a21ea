"""The page that says what a selection holds, and the files that it leaves in."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.accounts import rights
from apps.archive.campaigns.writer import ENDED
from apps.archive.exports import package
from apps.archive.exports.selection import ExportSelection, read_selection
from apps.bench.text import Message
from apps.comparison.comparisons.sets import SetError
from apps.core import messages
from apps.core.streams import send
from apps.toolbox import queries as toolbox


@login_required
@require_GET
def export(request: HttpRequest) -> HttpResponse:
    """Say what a selection holds and in which forms it can be had."""
    problem, selection = "", ExportSelection()
    if request.GET.get("set", "").strip() or request.GET.get("search", "").strip():
        try:
            selection = read_selection(request.GET, rights.user_of(request))
        except SetError as error:
            problem = messages.render(error.message)
    counts = selection.counts()
    campaigns = list({item.campaign_id: item.campaign for item in selection.experiments}.values())
    context = {
        "selection": selection,
        "problem": problem,
        "is_empty": bool(selection.query) and not selection.tools,
        "campaigns": campaigns,
        "archived": campaigns[0] if len(campaigns) == 1 and campaigns[0].state in ENDED else None,
        "tools": [(slug, toolbox.get_tool(slug).name, counts[slug]) for slug in selection.tools],
        "trials": sum(counts.values()),
        "endings": _named(),
    }
    return render(request, "reports/exports/export.html", context, status=422 if problem else 200)


@login_required
@require_GET
def download_package(request: HttpRequest, ending: package.Ending) -> HttpResponseBase:
    """Send a selection as a data package."""
    selection = _selection(request, ending)
    if isinstance(selection, HttpResponse):
        return selection
    address = request.build_absolute_uri("/")
    now = timezone.now()

    def make() -> package.Pieces:
        return package.package_of(selection, ending, now=now, address=address)

    return send(request, make, name=f"fathom-{ending}-{now:%Y%m%d}.zip", kind="application/zip")


@login_required
@require_GET
def download_table(request: HttpRequest, tool: str, ending: package.Ending) -> HttpResponseBase:
    """Send the table of one tool of a selection."""
    selection = _selection(request, ending)
    if isinstance(selection, HttpResponse):
        return selection
    if tool not in selection.tools:
        raise Http404
    name = f"{tool.replace('.', '-')}.{ending}"
    return send(request, lambda: package.table_of(selection, tool, ending), name=name, kind=package.TYPES[ending])


def _selection(request: HttpRequest, ending: str) -> ExportSelection | HttpResponse:
    """Return what a request selects, or the page that says what is wrong with it, or with the form it asks for."""
    if ending not in package.ENDINGS:
        text = _("There is no such one here; there are: %(known)s.")
        return _refused(request, Message(text, {"known": ", ".join(package.ENDINGS)}))
    try:
        selection = read_selection(request.GET, rights.user_of(request))
    except SetError as error:
        return _refused(request, error.message)
    if not selection.tools:
        return _refused(request, None)
    return selection


def _refused(request: HttpRequest, message: Message | None) -> HttpResponse:
    text = messages.render(message) if message else _("Nothing that you may see is selected: choose something else.")
    context = {"selection": ExportSelection(), "problem": text, "endings": _named()}
    return render(request, "reports/exports/export.html", context, status=422)


def _named() -> list[tuple[str, str]]:
    return [("csv", "CSV"), ("jsonl", "JSON Lines"), ("parquet", "Parquet")]
