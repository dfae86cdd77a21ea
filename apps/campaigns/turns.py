"""Turns of what works a sweep out for somebody who waits: 100,000 points take seconds of a processor."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from apps.accounts.models import User
from apps.accounts.owners import owners_of
from apps.core.limits.fair_places import FairPlaces

# A web process works so many out at once; who finds no place waits for so long (s).
AT_ONCE = 2
WAIT_S = 15.0
_places = FairPlaces(AT_ONCE, wait_s=WAIT_S)
_is_held: ContextVar[bool] = ContextVar("whether this request has its turn", default=False)


@contextmanager
def sweep_turn(user: User) -> Iterator[None]:
    """Hold a place for a person's sweep; LimitExceededError (429) if none is free in time.

    Within another it is the same turn. Nothing that others wait for may be held when it begins: no row, and no
    transaction, which would keep a connection.
    """
    if _is_held.get():
        yield
        return
    with _places.turn(owners_of(user)):
        token = _is_held.set(True)
        try:
            yield
        finally:
            _is_held.reset(token)


def has_turn() -> bool:
    """Return whether this request holds a place."""
    return _is_held.get()
