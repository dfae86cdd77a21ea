"""Refusals of the database, and its absence, in words."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.middleware.common import CommonMiddleware

from apps.core import bodies, immutability, messages, outage, races, views, web
from apps.core.limits.policies import LimitExceededError

# Who asks these wants to know what is away, signed in or not.
_ANSWERED_ANYHOW = {"/health/": views.health, "/health/live/": views.alive}


class AddressMiddleware(CommonMiddleware):
    """Sends readers on to the address with the final slash; what changes something is refused (`views.not_found`).

    Who follows such an answer to a POST sends a GET, and takes its 200 for the success of what was never done.
    """

    def should_redirect_with_slash(self, request: HttpRequest) -> bool:
        """Return whether the reader is sent on."""
        return request.method in ("GET", "HEAD") and super().should_redirect_with_slash(request)


class OutageMiddleware:
    """Answers at once with 503 while the database is known to be away, so that nobody waits for a connection.

    Whatever a request asks of the broker has one budget of time.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        if outage.watch.away_since is None:
            with outage.broker_budget():
                return self.get_response(request)
        return _ANSWERED_ANYHOW.get(request.path, views.unavailable)(request)


class SpaceMiddleware:
    """Answers, before anything is done, to what was not taken: 413 too much, 408 not all, 507 no room."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        error = web.refusal_of(request)
        if isinstance(error, bodies.RefusedBody):
            return views.refused_body(request, error)
        return self.get_response(request) if error is None else views.no_space(request, error)


class RefusalMiddleware:
    """Answers with a page that says so where a view tried to change what never changes, or more than is allowed.

    So it does where somebody else deleted or changed the same thing at the same moment.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return the page of a refusal; None leaves anything else to others."""
        if isinstance(exception, LimitExceededError):
            response = views.too_many(request, messages.render(exception.message))
            response.headers["Retry-After"] = str(exception.retry_after_s)
            return response
        if immutability.is_refusal(exception):
            return views.conflict(request, str(immutability.REFUSED))
        if races.is_collision(exception):
            races.note(exception)
            return views.conflict(request, str(races.CHANGED))
        if races.is_lost(exception):
            races.note(exception)
            return views.gone(request, str(races.GONE))
        return None
