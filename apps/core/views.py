"""Health and error pages; under /api/ errors are JSON, as every other answer there."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template import loader
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET


@require_GET
def health(request: HttpRequest) -> JsonResponse:
    """Say that the process answers."""
    return JsonResponse({"status": "ok"})


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show the 400 page."""
    return _refuse(request, 400, _("The request was not understood: look at its address and its body."))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show the 403 page, with the reason if one was given."""
    reason = str(exception) or _("Your role does not allow this. Ask a manager of your team.")
    return _refuse(request, 403, reason)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Show the page of a form that is out of date."""
    return _refuse(request, 403, _("The form is out of date. Load the page again, then repeat."), page="csrf")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show the 404 page."""
    return _refuse(request, 404, _("There is nothing at this address."))


def conflict(request: HttpRequest, reason: str) -> HttpResponse:
    """Show the page of what cannot be done to what is there."""
    return _refuse(request, 409, reason)


def server_error(request: HttpRequest) -> HttpResponse:
    """Show the 500 page, which asks nothing of the database: it may be what is broken."""
    if _is_rest(request):
        return _as_json(500, _("Something went wrong on our side; nothing that was measured is lost."))
    return HttpResponse(loader.get_template("errors/500.html").render(), status=500)


def _refuse(request: HttpRequest, status: int, reason: str, page: str = "") -> HttpResponse:
    if _is_rest(request):
        return _as_json(status, reason)
    return render(request, f"errors/{page or status}.html", {"reason": reason}, status=status)


def _is_rest(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def _as_json(status: int, reason: str) -> JsonResponse:
    return JsonResponse({"detail": reason, "fields": {}}, status=status)
