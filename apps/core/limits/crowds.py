"""What is sent that nobody is known to have sent: a web process has a few of it in hand, the rest waits.

Whoever begins to wait for something else, for a place or for others' passwords to be compared, lets the next in.
Whatever the process has begun with takes steps of its one loop, and between two steps of anybody's there is one of
each of the others: a crowd of hundreds would make everybody wait for seconds. Who is signed in, or has a token, has
turns of their own, shared out among persons and teams (`shared_turns`); while something of theirs is in hand, the
others, with whom they share a processor, take their turns one by one. Where somebody was signed in lately, one signs
in beside a crowd.
"""

import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from apps.core.json_answers import JsonAnswer
from apps.core.limits import at_once
from apps.core.limits.askers import HEALTH, REST, address_of, session_key_in
from apps.core.limits.fair_turns import FairTurns
from apps.core.limits.shared_turns import KnownSender, SharedTurns

T = TypeVar("T")

# For so long (s) a request waits for others, and who waited in vain is to come again after it.
WAIT_S = 5.0
# Who is known waits for their own, and costs nothing meanwhile: neither a thread nor a connection.
KNOWN_WAIT_S = 30.0
# For so long (s) somebody's teams are taken as they were.
_TEAMS_FOR_S = 60.0
# Senders that showed who they are are remembered by a sum of what they sent for it, and the addresses they were at:
# the latest of each, and of one person so many: whatever stands beside a session makes another sum.
_MOST_REMEMBERED, _MOST_OF_PERSON = 10_000, 50
# So much is in hand of all, and of one address one less: at every step the loop waits for each thread at work, and a
# few take all of a processor. Who signs in, or asks how the service is, waits for others who do.
PAGES, SIGN_IN, RETURN = "pages", "sign-in", "return"
MOST = {
    PAGES: max(2, min(6, at_once.of_process.most_of_address)),
    SIGN_IN: min(3, at_once.of_sign_in.most),
    RETURN: min(3, at_once.of_sign_in.most),
    HEALTH: 2,
}
# Of somebody who is known beside others, and of a team with all its people: a page asks for two things at once, and
# with three at work each step of another's page waits for two.
OF_PERSON, OF_TEAM = 2, 3
# What gives the turns of the steps of what this request is sent while it is made.
step_turn: ContextVar[Callable[[], "Turn"] | None] = ContextVar("the turn of a step of this answer", default=None)
_CREDENTIALS = ("HTTP_AUTHORIZATION", "HTTP_COOKIE")


class CrowdedError(Exception):
    """So much is in hand that one more waited in vain; `is_own` if that is of the same person or team."""

    def __init__(self, *, is_own: bool) -> None:
        super().__init__()
        self.is_own = is_own


class Turn:
    """One request's place among those that are in hand; it may be taken and given back more than once."""

    def __init__(self, turns: "FairTurns | SharedTurns | None", asker: Any = "") -> None:
        self._turns, self._asker = turns, asker
        self._is_taken = self._is_step = False

    async def take(self) -> None:
        """Wait until less is in hand; CrowdedError if that takes too long.

        To be let in then would let all of a crowd in at once.
        """
        turns = self._turns
        if turns is None or self._is_taken:
            return
        try:
            if isinstance(turns, SharedTurns):
                await turns.take(self._asker, within_s=KNOWN_WAIT_S, is_step=self._is_step)
            else:
                await turns.take(self._asker, within_s=WAIT_S)
        except TimeoutError:
            self._turns = None
            raise CrowdedError(is_own=isinstance(turns, SharedTurns)) from None
        self._is_taken = True

    def of_step(self) -> "Turn":
        """Return the turn of one step of what is sent while it is made: strangers' steps wait for nobody."""
        step = Turn(self._turns if isinstance(self._turns, SharedTurns) else None, self._asker)
        step._is_step = True
        return step

    def give_back(self) -> None:
        """Let the next in, if this one is in hand; it does not come back."""
        if self._turns is not None and self._is_taken:
            self._turns.give_back(self._asker)
            self._turns = None


class Crowds:
    """Counts the requests that are in hand, but for those of senders who are known."""

    def __init__(self) -> None:
        self._of_known = SharedTurns(
            settings.WEB_CONNECTIONS, alone=at_once.of_process.most, of_person=OF_PERSON, of_team=OF_TEAM
        )
        self._turns = {kind: self._turns_of(kind) for kind in MOST}
        # By each sum, whose it is, and since when that is known.
        self._known: OrderedDict[object, tuple[KnownSender, float]] = OrderedDict()
        self._addresses: OrderedDict[object, None] = OrderedDict()

    def _turns_of(self, kind: str) -> FairTurns:
        most = MOST[kind]
        is_narrowed = kind in (PAGES, SIGN_IN)
        return FairTurns(
            most, most - 1, at_present=lambda: 1 if is_narrowed and self._of_known.is_anybody_there() else most
        )

    def knows(self, authorization: bytes, cookies: bytes) -> bool:
        """Say whether the sender of a request showed before who it is."""
        return _proof(authorization, cookies) in self._known

    def turn_of(self, address: str, path: str, authorization: bytes, cookies: bytes) -> Turn:
        """Return the turn of a request from an address.

        Known senders wait for their own, but where they ask how the service is; who has no address never waits.
        """
        if not address:
            return Turn(None)
        remembered = self._known.get(_proof(authorization, cookies))
        if path != HEALTH and remembered is not None:
            return Turn(self._of_known, remembered[0])
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
        sender, since = self._known.get(proof, (None, 0.0))
        if sender is None or sender.person != asker.name or time.monotonic() - since > _TEAMS_FOR_S:
            sender, since = KnownSender(asker.name, tuple(asker.teams())), time.monotonic()
        if proof not in self._known:
            own = [other for other, (whose, _since) in list(self._known.items()) if whose.person == asker.name]
            for other in own[: 1 - _MOST_OF_PERSON]:
                self._known.pop(other, None)
        _remember(self._known, proof, (sender, since))
        _remember(self._addresses, address_of(request), None)

    def forget(self, authorization: bytes, cookies: bytes) -> None:
        """Forget the sender of what does not show any more who it is."""
        self._known.pop(_proof(authorization, cookies), None)


@asynccontextmanager
async def step() -> AsyncIterator[None]:
    """Make one step of this request's answer in a turn, or without one rather than break off what was begun."""
    new_turn = step_turn.get()
    turn = new_turn() if new_turn else Turn(None)
    with suppress(CrowdedError):
        await turn.take()
    try:
        yield
    finally:
        turn.give_back()


def refusal(path: str, error: CrowdedError) -> HttpResponse:
    """Return the answer to a request that waited in vain for its turn: little of it is asked, for there are many."""
    text = _("Many who are not signed in ask for something at this moment. Try again in %(seconds)s s.")
    if error.is_own:
        text = _("As many of your requests are under way as one may have at once. Try again in %(seconds)s s.")
    text %= {"seconds": round(WAIT_S)}
    plain = "text/plain; charset=utf-8"
    answer = JsonAnswer({"detail": text}) if path.startswith(REST) else HttpResponse(text, content_type=plain)
    answer.status_code = 429
    answer.headers["Retry-After"] = str(round(WAIT_S))
    answer.headers["Content-Length"] = str(len(answer.content))
    return answer


def _remember(known: OrderedDict[object, T], key: object, value: T) -> None:
    known[key] = value
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
