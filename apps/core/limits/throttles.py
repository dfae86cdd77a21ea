"""The throttle of every REST view: requests and bytes of answers, for each token or person."""

from typing import Any

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from apps.core.limits import middleware, policies


class PolicyThrottle(BaseThrottle):
    """Refuses with 429 what is asked for beyond the policies "token" and "answers"."""

    def __init__(self) -> None:
        self._wait_s: float | None = None

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count the request; say whether it is answered."""
        who = _who(request)
        if not who:
            return True
        # What was sent is known when it has been: until then its bytes are read, and raised by none.
        states = policies.charge({"token": who, "answers": who}, {"answers": 0})
        middleware.note(request._request, states, answers_to=who)
        exceeded = [state for state in states if state.is_exceeded]
        if exceeded:
            self._wait_s = max(state.retry_after_s for state in exceeded)
        return not exceeded

    def wait(self) -> float | None:
        """Return when to ask again (s)."""
        return self._wait_s


def _who(request: Request) -> str:
    """Return whose requests these are: a token's, else a person's; "" for who is not known."""
    if pk := getattr(request.auth, "pk", None):
        return f"token:{pk}"
    return f"person:{request.user.pk}" if request.user.is_authenticated else ""
