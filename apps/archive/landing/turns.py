"""Turns of what is written for the first who reads it: who waits too long asks again."""

from collections.abc import Iterator
from contextlib import contextmanager

from apps.bench.text import Message, _
from apps.core.limits.fair_places import RETRY_AFTER_S, FairPlaces, Owners, PlacesTakenError
from apps.core.limits.policies import LimitExceededError


@contextmanager
def turn(places: FairPlaces, owner: str) -> Iterator[None]:
    """Hold a place for an owner's work; LimitExceededError (429) if none is free in time."""
    try:
        with places.turn(Owners(owner)):
            yield
    except PlacesTakenError as error:
        wait = _("This is being written for its first readers. Try again in %(seconds)s s.")
        raise LimitExceededError(Message(wait), RETRY_AFTER_S) from error
