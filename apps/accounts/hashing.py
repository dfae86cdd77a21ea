"""Passwords are hashed in few places of a process, and whoever waits for one keeps nothing from others.

A hash takes a processor for a quarter of a second, and anybody may have one made by trying to sign in.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.utils.translation import gettext as _

from apps.core import connections, outage

# Of two processors one is left to pages.
AT_ONCE = 1 if (os.cpu_count() or 1) <= 2 else 2
# For so long (s) a password waits for its turn: as long as any waits for a connection.
WAIT_S = 5.0


class HashingPlaces:
    """So many hashes at once."""

    def __init__(self, most: int, *, wait_s: float = WAIT_S) -> None:
        self._free = threading.BoundedSemaphore(most)
        self._wait_s = wait_s

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place, and no database connection unless a transaction is under way.

        outage.Busy (503) if none is free in time.
        """
        connections.give_back()
        if not self._free.acquire(timeout=self._wait_s):
            raise outage.Busy(_("Many passwords are being checked at this moment. Try again in a few seconds."))
        try:
            yield
        finally:
            self._free.release()


of_process = HashingPlaces(AT_ONCE)
# Of whoever signs in where they did so before: however many others try passwords, this one is not theirs.
of_return = HashingPlaces(AT_ONCE)
is_return: ContextVar[bool] = ContextVar("somebody signs in where they did so before", default=False)


class PasswordHasher(PBKDF2PasswordHasher):
    """Django's, with whose hashes it shares its name, in the places of this process."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        """Return the hash; outage.Busy if too many are made at this moment."""
        with (of_return if is_return.get() else of_process).place():
            return super().encode(password, salt, iterations)
