"""Each page in the reader's own language and time zone."""

import math
import zoneinfo
from collections.abc import Callable, Mapping, Sequence

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.cache import patch_cache_control

from apps.accounts import hashing, passwords
from apps.core.limits import at_once

_SIGN_IN_PAGES = ("accounts:login", "admin:login")


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


class PrivateMiddleware:
    """Has nothing kept, by browsers or on the way, of what somebody who is signed in was answered.

    By what the request brings: who is behind it, each view finds out by itself. Public pages of strangers stay as
    they are.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        response = self.get_response(request)
        session = settings.SESSION_COOKIE_NAME
        if "Authorization" in request.headers or session in request.COOKIES or session in response.cookies:
            patch_cache_control(response, private=True, no_store=True)
        return response


class GuessingMiddleware:
    """Has whoever guesses passwords wait, on every page that takes one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request: whoever signs in where they did so before waits for nobody who tries passwords."""
        name = passwords.returning_as(request, request.POST.get("username", "")) if _is_sign_in(request) else ""
        at_once.note_return(request, name)
        token = hashing.is_return.set(bool(name))
        try:
            return self.get_response(request)
        finally:
            hashing.is_return.reset(token)

    def process_view(
        self, request: HttpRequest, view: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> HttpResponse | None:
        """Return the page that says how long to wait, None if nobody has to."""
        if not _is_sign_in(request) or hashing.is_return.get():
            return None
        wait_s = passwords.wait_before(request, request.POST.get("username", ""))
        if not wait_s:
            return None
        seconds = max(1, math.ceil(wait_s))
        response = render(request, "accounts/slowed.html", {"seconds": seconds}, status=429)
        response.headers["Retry-After"] = str(seconds)
        return response


def _is_sign_in(request: HttpRequest) -> bool:
    return request.method == "POST" and request.path in map(reverse, _SIGN_IN_PAGES)


def _zone_of(name: str) -> zoneinfo.ZoneInfo:
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        # Names were checked when they were saved; the list of them may have changed since.
        return zoneinfo.ZoneInfo("UTC")
