"""What is sent that nobody is known to have sent: a web process has a few of it in hand, the rest waits.

Whoever begins to wait for something else, for a place or for others' passwords to be compared, lets the next in.
Whatever the process has begun with takes steps of its one loop, and between two steps of anybody's there is one of
each of the others: a crowd of hundreds would make everybody wait for seconds. Who is signed in, or has a token, has
places of their own (`at_once`) and waits here for nobody.
"""

from collections import OrderedDict

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from apps.core.json_answers import JsonAnswer
from apps.core.limits import at_once
from apps.core.limits.askers import HEALTH, REST, session_key_in
from apps.core.limits.fair_turns import FairTurns

# For so long (s) a request waits for others, and who waited in vain is to come again after it.
WAIT_S = 5.0
# Senders that showed who they are are remembered by a sum of what they sent for it, the latest of them.
_MOST_REMEMBERED = 10_000
# So much is in hand of all, and of one address one less: at every step the loop waits for each thread at work, and a
# few take all of a processor. Who signs in, or asks how the service is, waits for others who do.
PAGES, SIGN_IN = "pages", "sign-in"
MOST = {
    PAGES: max(2, min(6, at_once.of_process.most_of_address)),
    SIGN_IN: min(3, at_once.of_sign_in.most),
    HEALTH: 2,
}
_CREDENTIALS = ("HTTP_AUTHORIZATION", "HTTP_COOKIE")


class CrowdedError(Exception):
    """So much is in hand that one more request waited in vain."""


class Turn:
    """One request's place among those that are in hand; it may be taken and given back more than once."""

    def __init__(self, turns: FairTurns | None, address: str = "") -> None:
        self._turns, self._address = turns, address
        self._is_taken = False

    async def take(self) -> None:
        """Wait until less is in hand; CrowdedError after WAIT_S.

        To be let in then would let all of a crowd in at once.
        """
        turns = self._turns
        if turns is None or self._is_taken:
            return
        try:
            await turns.take(self._address, within_s=WAIT_S)
        except TimeoutError:
            self._turns = None
            raise CrowdedError from None
        self._is_taken = True

    def give_back(self) -> None:
        """Let the next in, if this one is in hand; it does not come back."""
        if self._turns is not None and self._is_taken:
            self._turns.give_back(self._address)
            self._turns = None


class Crowds:
    """Counts the requests that are in hand, but for those of senders who are known."""

    def __init__(self) -> None:
        self._turns = {kind: FairTurns(most, most - 1) for kind, most in MOST.items()}
        self._known: OrderedDict[int | None, None] = OrderedDict()

    def turn_of(self, address: str, path: str, authorization: bytes, cookies: bytes) -> Turn:
        """Return the turn of a request from an address.

        Known senders never wait, but where they ask how the service is, nor who has no address.
        """
        proof = _proof(authorization, cookies)
        if not address or (path != HEALTH and proof in self._known):
            return Turn(None)
        return Turn(self._turns[_kind_of(path)], address)

    def note(self, request: HttpRequest, asker: at_once.Asker) -> None:
        """Remember the sender of a request that showed who it is, and forget one that does not any more."""
        credentials = [request.META.get(name, "").encode("latin-1", "replace") for name in _CREDENTIALS]
        proof = _proof(*credentials)
        if proof is None or not asker.is_known:
            self.forget(*credentials)
            return
        self._known[proof] = None
        self._known.move_to_end(proof)
        if len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)

    def forget(self, authorization: bytes, cookies: bytes) -> None:
        """Forget the sender of what does not show any more who it is."""
        self._known.pop(_proof(authorization, cookies), None)


def refusal(path: str) -> HttpResponse:
    """Return the answer to a request that waited in vain for its turn: little of it is asked, for there are many."""
    text = _("Many who are not signed in ask for something at this moment. Try again in %(seconds)s s.")
    text %= {"seconds": round(WAIT_S)}
    plain = "text/plain; charset=utf-8"
    answer = JsonAnswer({"detail": text}) if path.startswith(REST) else HttpResponse(text, content_type=plain)
    answer.status_code = 429
    answer.headers["Retry-After"] = str(round(WAIT_S))
    answer.headers["Content-Length"] = str(len(answer.content))
    return answer


def _kind_of(path: str) -> str:
    if path == HEALTH:
        return HEALTH
    return SIGN_IN if path.startswith(at_once.SIGN_IN) else PAGES


def _proof(authorization: bytes, cookies: bytes) -> int | None:
    """Return a sum of all that the head of a request shows of its sender, None if it shows nothing."""
    session = session_key_in(cookies)
    return hash((authorization, session)) if authorization or session else None


of_process = Crowds()
