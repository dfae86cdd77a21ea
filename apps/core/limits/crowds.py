"""What is sent that nobody is known to have sent: a web process has a few of it in hand, the rest waits.

Whoever begins to wait for something else, for a place or for others' passwords to be compared, lets the next in.
Whatever the process has begun with takes steps of its one loop, and between two steps of anybody's there is one of
each of the others: a crowd of hundreds would make everybody wait for seconds. Who is signed in, or has a token, has
places of their own (`at_once`) and waits here for nobody; while something of theirs is in hand, the others, with whom
they share a processor, take their turns one by one. Where somebody was signed in lately, one signs in beside a crowd.
"""

import time
from collections import OrderedDict

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from apps.core.json_answers import JsonAnswer
from apps.core.limits import at_once
from apps.core.limits.askers import HEALTH, REST, address_of, session_key_in
from apps.core.limits.fair_turns import FairTurns

# For so long (s) a request waits for others, and who waited in vain is to come again after it.
WAIT_S = 5.0
# Others go on one by one for so long (s) after somebody who is known was answered: a page asks for its parts.
_STAYS_S = 2.0
# Senders that showed who they are are remembered by a sum of what they sent for it, and the addresses they were at:
# the latest of each.
_MOST_REMEMBERED = 10_000
# So much is in hand of all, and of one address one less: at every step the loop waits for each thread at work, and a
# few take all of a processor. Who signs in, or asks how the service is, waits for others who do.
PAGES, SIGN_IN, RETURN = "pages", "sign-in", "return"
MOST = {
    PAGES: max(2, min(6, at_once.of_process.most_of_address)),
    SIGN_IN: min(3, at_once.of_sign_in.most),
    RETURN: min(3, at_once.of_sign_in.most),
    HEALTH: 2,
}
_CREDENTIALS = ("HTTP_AUTHORIZATION", "HTTP_COOKIE")


class CrowdedError(Exception):
    """So much is in hand that one more request waited in vain."""


class _OfKnown:
    """What is in hand of senders who are known: it waits for nobody, and others go on one by one meanwhile."""

    def __init__(self) -> None:
        self._in_hand = 0
        self._last = -_STAYS_S

    async def take(self, _address: str, *, within_s: float) -> None:
        """Take one more in hand."""
        self._in_hand += 1

    def give_back(self, _address: str) -> None:
        """Have one less in hand."""
        self._in_hand -= 1
        self._last = time.monotonic()

    def is_there(self) -> bool:
        """Say whether there is any, or was a moment ago."""
        return self._in_hand > 0 or time.monotonic() - self._last < _STAYS_S


class Turn:
    """One request's place among those that are in hand; it may be taken and given back more than once."""

    def __init__(self, turns: "FairTurns | _OfKnown | None", address: str = "") -> None:
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
        self._of_known = _OfKnown()
        self._turns = {kind: self._turns_of(kind) for kind in MOST}
        self._known: OrderedDict[object, None] = OrderedDict()
        self._addresses: OrderedDict[object, None] = OrderedDict()

    def _turns_of(self, kind: str) -> FairTurns:
        most = MOST[kind]
        is_narrowed = kind in (PAGES, SIGN_IN)
        return FairTurns(most, most - 1, at_present=lambda: 1 if is_narrowed and self._of_known.is_there() else most)

    def knows(self, authorization: bytes, cookies: bytes) -> bool:
        """Say whether the sender of a request showed before who it is."""
        return _proof(authorization, cookies) in self._known

    def turn_of(self, address: str, path: str, authorization: bytes, cookies: bytes) -> Turn:
        """Return the turn of a request from an address.

        Known senders never wait, but where they ask how the service is, nor who has no address.
        """
        if not address:
            return Turn(None)
        if path != HEALTH and self.knows(authorization, cookies):
            return Turn(self._of_known)
        kind = _kind_of(path)
        is_return = kind == SIGN_IN and address in self._addresses
        return Turn(self._turns[RETURN if is_return else kind], address)

    def note(self, request: HttpRequest, asker: at_once.Asker) -> None:
        """Remember the sender of a request that showed who it is, and forget one that does not any more."""
        credentials = [request.META.get(name, "").encode("latin-1", "replace") for name in _CREDENTIALS]
        proof = _proof(*credentials)
        if proof is None or not asker.is_known:
            self.forget(*credentials)
            return
        _remember(self._known, proof)
        _remember(self._addresses, address_of(request))

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


def _remember(known: OrderedDict[object, None], key: object) -> None:
    known[key] = None
    known.move_to_end(key)
    if len(known) > _MOST_REMEMBERED:
        known.popitem(last=False)


def _kind_of(path: str) -> str:
    if path == HEALTH:
        return HEALTH
    return SIGN_IN if path.startswith(at_once.SIGN_IN) else PAGES


def _proof(authorization: bytes, cookies: bytes) -> int | None:
    """Return a sum of all that the head of a request shows of its sender, None if it shows nothing."""
    session = session_key_in(cookies)
    return hash((authorization, session)) if authorization or session else None


of_process = Crowds()
