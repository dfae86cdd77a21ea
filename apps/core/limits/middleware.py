"""Count what an address asks for without being known, and tell what is left of all policies."""

from collections.abc import Callable, Sequence

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from apps.core import messages, views
from apps.core.limits import at_once, crowds, policies, untaken
from apps.core.limits.askers import ALIVE, HEALTH, REST, address_of
from apps.core.limits.policies import LimitExceededError

_OF_HEALTH = (HEALTH, ALIVE)
_NOTED = "limit_states"
_ANSWERS_TO = "limit_answers_to"


def note(request: HttpRequest, states: Sequence[policies.QuotaState], *, answers_to: str = "") -> None:
    """Note how policies stand, for the answer's headers; its bytes are charged to `answers_to`."""
    add(request, states)
    setattr(request, _ANSWERS_TO, answers_to)


def add(request: HttpRequest, states: Sequence[policies.QuotaState]) -> None:
    """Note how more policies stand, for the answer's headers."""
    setattr(request, _NOTED, [*getattr(request, _NOTED, ()), *states])


class LimitsMiddleware:
    """Refuses what an address asks for beyond its policy: REST, and pages for who is not signed in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request, or say when to ask again."""
        response = self._refusal(request) or self._answer(request)
        who = getattr(request, _ANSWERS_TO, "")
        if not response.streaming:
            if who:
                policies.charge({"answers": who}, {"answers": len(response.content)})
            response = self._kept(request, response)
        for name, value in policies.headers_of(getattr(request, _NOTED, ())).items():
            response.headers[name] = value
        return response

    def _answer(self, request: HttpRequest) -> HttpResponse:
        # Whose token a request of REST has is known to its view (core.rest).
        if request.path in _OF_HEALTH or request.path.startswith(REST):
            return self.get_response(request)
        asker = at_once.asker_of(request)
        crowds.of_process.note(request, asker)
        try:
            with at_once.places_for(request).turn(asker):
                return self.get_response(request)
        except LimitExceededError as error:
            return _too_many(request, messages.render(error.message), error.retry_after_s)

    def _kept(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        try:
            if len(response.content) >= untaken.LARGE:
                untaken.keep(response, at_once.asker_of(request))
        except LimitExceededError as error:
            return _too_many(request, messages.render(error.message), error.retry_after_s)
        return response

    def _refusal(self, request: HttpRequest) -> HttpResponse | None:
        if request.path in _OF_HEALTH:
            return None
        address = address_of(request)
        is_rest = request.path.startswith(REST)
        if not address or not (is_rest or not request.user.is_authenticated):
            return None
        states = policies.charge({"address": address})
        if is_rest:
            note(request, states)
        exceeded = [state for state in states if state.is_exceeded]
        if not exceeded:
            return None
        seconds = max(state.retry_after_s for state in exceeded)
        return _too_many(request, _("Too many requests from this address: ask again in %s s.") % seconds, seconds)


def _too_many(request: HttpRequest, reason: str, retry_after_s: int) -> HttpResponse:
    response = views.too_many(request, reason)
    response.headers["Retry-After"] = str(retry_after_s)
    return response
