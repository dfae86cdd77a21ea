"""Health and error pages; under /api/ errors are JSON, as every other answer there."""

import logging
import sys
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import loader
from django.template.defaultfilters import filesizeformat
from django.urls import is_valid_path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from apps.core import bodies, holding, intake, outage, space, starvation, writing
from apps.core import health as checks
from apps.core.json_answers import JsonAnswer

# What changes nothing, and may be repeated whatever became of it.
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
logger = logging.getLogger(__name__)


@require_safe
def alive(request: HttpRequest) -> JsonAnswer:
    """Say that the process answers, whatever else is away: who supervises it asks this.

    503 if it gets no connection although the database has some, or came to a halt in hearing agents: its restart
    helps, as nothing else does.
    """
    looks = (starvation.of_process, starvation.tried_to_hear)
    if any(look.since(longer_than_s=starvation.ENDS_AFTER_S) is not None for look in looks):
        return JsonAnswer({"status": "starved"}, status=503)
    return JsonAnswer({"status": "ok"})


@require_safe
def health(request: HttpRequest) -> JsonAnswer:
    """Say how each part is, and since when; 503 while the database is away, for nothing can be answered then."""
    parts = checks.parts()
    status = "ok" if all(part.is_ok for part in parts.values()) else "degraded"
    body = {"status": status, "parts": {name: part.as_json() for name, part in parts.items()}}
    if parts["database"].is_ok or parts["database"].is_hindered:
        return JsonAnswer(body, headers={"Cache-Control": "no-store"})
    headers = {"Cache-Control": "no-store", "Retry-After": str(outage.RETRY_AFTER_S)}
    return JsonAnswer(body | {"status": "away"}, status=503, headers=headers)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show the 400 page."""
    return _refuse(request, 400, _("The request was not understood: look at its address and its body."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show the 403 page, with the reason if one was given."""
    reason = str(exception) or _("Your role does not allow this. Ask a manager of your team.")
    # Whom it helps to name another team is offered those; what was sent along is not sent again by a link.
    teams = getattr(exception, "teams", ()) if request.method == "GET" else ()
    return _refuse(request, 403, reason, teams=teams)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Show the page of a form that is out of date."""
    return _refuse(request, 403, _("The form is out of date. Load the page again, then repeat."), page="csrf")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show the 404 page."""
    text = _("There is nothing at this address.")
    if not request.path.endswith("/") and is_valid_path(f"{request.path}/", getattr(request, "urlconf", None)):
        text = _("The address ends with a slash: send it to %(address)s.") % {"address": f"{request.path}/"}
    return _refuse(request, 404, text)


def gone(request: HttpRequest, reason: str) -> HttpResponse:
    """Show the page of what was deleted while it was asked for."""
    return _refuse(request, 404, reason, page="gone")


def conflict(request: HttpRequest, reason: str) -> HttpResponse:
    """Show the page of what cannot be done to what is there."""
    return _refuse(request, 409, reason)


def unavailable(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Show the 503 page, which asks nothing of the database, and says when to come again."""
    held = holding.held()
    away = _(
        "The database or the message broker is away, or too busy to answer. Try again in a few seconds: nothing that"
        " was measured is lost."
    )
    reason = reason or (held.words() if held else away)
    if _is_rest(request):
        answer: HttpResponse = _as_json(503, reason)
    else:
        answer = HttpResponse(
            loader.get_template("errors/503.html").render({"code": 503, "reason": reason}), status=503
        )
    answer.headers["Retry-After"] = str(outage.RETRY_AFTER_S)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def unknown_outcome(request: HttpRequest) -> HttpResponse:
    """Show the 504 page of a change that was sent to the database, and its answer lost; it has no time to come again.

    A client that repeats what 503 answers by itself would do some things twice.
    """
    reason = _(
        "The answer of the database was lost on its way: it is not known whether this was carried out. Look before"
        " you repeat it."
    )
    if _is_rest(request):
        return _as_json(504, reason)
    return HttpResponse(loader.get_template("errors/504.html").render({"code": 504, "reason": reason}), status=504)


def no_space(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Show the 507 page, which asks nothing of the database, with how much room there is."""
    writing.note(error)
    logger.warning("%s is refused, a disk is full: %s", request.path, error)
    reason = space.words_of(error)
    if _is_rest(request):
        return _as_json(507, reason)
    return HttpResponse(loader.get_template("errors/507.html").render({"code": 507, "reason": reason}), status=507)


def refused_body(request: HttpRequest, error: bodies.RefusedBody) -> HttpResponse:
    """Show the page of a body that was not taken to its end (413, 408, 429, 503); it asks nothing of the database."""
    if isinstance(error, bodies.Unanswerable):
        return _to_its_end(unavailable(request))
    reason = _("The request did not come to its end: too little of it came for a while. Send it again.")
    if isinstance(error, bodies.TooLarge):
        text = _("At most %(most)s can be sent here like this. Sign in, or send less at once.")
        reason = text % {"most": filesizeformat(error.most)}
    if isinstance(error, intake.Crowded):
        reason = _("As much as can be taken at once is being sent. Send it again in a while.")
        if error.status == 429:
            reason = _("As much of yours is being sent as one may send at once. Send it again when that is done.")
    if isinstance(error, intake.Overtaken):
        reason = _("Others sent much while the request came. Send it again.")
    if _is_rest(request):
        answer: HttpResponse = _as_json(error.status, reason)
    else:
        template = loader.get_template("errors/413.html")
        answer = HttpResponse(template.render({"code": error.status, "reason": reason}), status=error.status)
    if error.status in (429, 503):
        answer.headers["Retry-After"] = str(outage.RETRY_AFTER_S)
    return _to_its_end(answer)


def _to_its_end(answer: HttpResponse) -> HttpResponse:
    # Who reads it has sent the rest for nothing, and needs to know where the answer ends.
    answer.headers["Content-Length"] = str(len(answer.content))
    return answer


def too_many(request: HttpRequest, reason: str) -> HttpResponse:
    """Show the page of who asks too often."""
    return _refuse(request, 429, reason)


def server_error(request: HttpRequest) -> HttpResponse:
    """Show the 500 page, which asks nothing of the database; the 503 page if that is away or too busy."""
    # Django calls this where it handles the error.
    error = sys.exc_info()[1]
    if space.is_missing(error) and error is not None:
        return no_space(request, error)
    if error is not None and outage.is_unavailability(error):
        outage.watch.note(error)
        logger.warning("%s is not available: %s", request.path, error)
        if request.method not in SAFE_METHODS and outage.is_outcome_unknown(error):
            return unknown_outcome(request)
        return unavailable(request, outage.reason_of(error))
    if _is_rest(request):
        return _as_json(500, _("Something went wrong on our side; nothing that was measured is lost."))
    return HttpResponse(loader.get_template("errors/500.html").render({"code": 500}), status=500)


def _refuse(
    request: HttpRequest, status: int, reason: str, page: str = "", teams: Sequence[Any] = ()
) -> HttpResponse:
    if _is_rest(request):
        return _as_json(status, reason)
    return render(request, f"errors/{page or status}.html", {"reason": reason, "teams": teams}, status=status)


def _is_rest(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def _as_json(status: int, reason: str) -> JsonAnswer:
    return JsonAnswer({"detail": reason, "fields": {}}, status=status)
