"""Each page in the reader's own language and time zone."""

import zoneinfo
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation


class PreferencesMiddleware:
    """Activates the signed-in person's time zone and, if they chose one, language."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request with the person's preferences in force."""
        user = request.user
        if not user.is_authenticated:
            timezone.deactivate()
            return self.get_response(request)
        if user.language:
            translation.activate(user.language)
            request.LANGUAGE_CODE = user.language
        with timezone.override(_zone_of(user.timezone)):
            return self.get_response(request)


def _zone_of(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        # Names were checked when they were saved; the list of them may have changed since.
        return zoneinfo.ZoneInfo("UTC")
