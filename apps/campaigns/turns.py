"""Turns of what works a sweep out only to be looked at: 100,000 points take seconds of a processor."""

from contextlib import AbstractContextManager

from apps.accounts.models import User
from apps.accounts.owners import owners_of
from apps.core.limits.fair_places import FairPlaces

# A web process works so many out at once; who finds no place waits for so long (s).
AT_ONCE = 2
WAIT_S = 15.0
_places = FairPlaces(AT_ONCE, wait_s=WAIT_S)


def preview_turn(user: User) -> AbstractContextManager[None]:
    """Hold a place for a person's preview; LimitExceededError (429) if none is free in time."""
    return _places.turn(owners_of(user))
