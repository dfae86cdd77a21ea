"""Pages that the links in mails open, for anybody who has one: to confirm an address, and to stop mails to it.

They show what the link itself is about and nothing else, whoever asks; a link that is none of ours is not there.
"""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.accounts import consent
from apps.accounts.consent import ConsentLink
from apps.bench.text import Message, _
from apps.core.limits import policies
from apps.core.limits.askers import address_of


@require_http_methods(["GET", "HEAD", "POST"])
def confirm(request: HttpRequest) -> HttpResponse:
    """Ask whether the address is to be mailed, and keep it: programs that look through mails follow links, too."""
    link = _link_of(request, consent.read_confirm)
    if request.method == "POST":
        consent.confirm(link, timezone.now())
    return _shown(request, "confirm", link)


# A program of mail sends it for its reader, with no cookie of ours (RFC 8058): the link itself is what allows it.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest) -> HttpResponse:
    """Ask whose mails to stop, and stop them; `again` (`team` or `all`) takes that back."""
    link = _link_of(request, consent.read_stop)
    if request.method == "POST" and "again" in request.POST:
        is_resumed = consent.resume(link, of_all=request.POST["again"] == "all")
        return _shown(request, "stop", link, is_resumed=is_resumed)
    if request.method == "POST":
        consent.stop(link, timezone.now(), of_all="all" in request.POST)
    return _shown(request, "stop", link)


def _link_of(request: HttpRequest, read: Callable[[str], ConsentLink | None]) -> ConsentLink:
    """Return what a link is about; Http404 for one that is none of ours, LimitExceededError if many are asked for."""
    text = _("Too many requests from this address: ask again in %(seconds)s s.")
    policies.charge_or_refuse({"mail-links": f"address:{address_of(request)}"}, Message(text))
    link = read(request.GET.get("token", ""))
    if link is None:
        raise Http404
    # A body that cannot be read raises here, before anything is kept.
    request.POST  # noqa: B018
    return link


def _shown(request: HttpRequest, name: str, link: ConsentLink, **context: bool) -> HttpResponse:
    answer = render(
        request,
        f"accounts/mail/{name}.html",
        {"link": link, "is_done": request.method == "POST", "post": request.POST} | context,
    )
    # The link stands in the address, which goes to nobody else.
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["Cache-Control"] = "no-store"
    return answer
