"""Refusals of the database in words."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from apps.core import immutability, views


class RefusalMiddleware:
    """Answers with a page that says so where a view tried to change what never changes."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return the page of a refusal; None leaves anything else to others."""
        return views.conflict(request, str(immutability.REFUSED)) if immutability.is_refusal(exception) else None
