"""Guessing of passwords, slowed: one address that tries many names, and one name tried from many addresses.

axes locks a name from one address. Beside it an address with many failures, and a name with many, are not locked but
slowed: one attempt at a time, for a whole site may be behind the address, and the owner behind the name. Whoever
signed in with a name from an address before is not slowed by what others try, there or elsewhere, and has places of
their own where many try passwords. All others wait for each other, whoever tried little lately first; a name without
an account takes its place as any does, for whoever knows one that has an account could else tell from the waiting.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.db.models import Exists, OuterRef
from django.http import HttpRequest
from django.utils import timezone

from apps.accounts import queries
from apps.accounts.models import User
from apps.core import audit
from apps.core.limits import counters
from apps.core.limits.askers import address_of

# Failures are counted for so long (s); a name's are forgotten by its owner's success.
WINDOW_S = 15 * 60
# Over the limit one attempt is let through in so many seconds: for an address, for a name.
ADDRESS_EVERY_S = 5.0
NAME_EVERY_S = 10.0
_KNOWN_S = 90 * 24 * 3600


@dataclass(frozen=True)
class _Keys:
    address: str
    name: str
    pair: str


def wait_before(request: HttpRequest, username: str) -> float:
    """Return how long (s) somebody has to wait before they may try a password, 0 if not at all."""
    keys = _keys(request, username)
    failures = counters.read_counts([keys.address, keys.name])
    turns = []
    if failures[keys.address] >= settings.SIGN_IN_FAILURES_PER_ADDRESS:
        turns.append((f"{keys.address}:turn", ADDRESS_EVERY_S))
    if failures[keys.name] >= settings.SIGN_IN_FAILURES_PER_NAME:
        turns.append((f"{keys.name}:turn", NAME_EVERY_S))
    return max((counters.take_turn(key, every_s) for key, every_s in turns), default=0.0)


def returning_as(request: HttpRequest, username: str) -> str:
    """Return a sum of the name with which somebody signs in who did so before from this address, "" for others."""
    keys = _keys(request, username)
    return keys.name if counters.is_remembered(keys.pair) else ""


class PasswordBackend(ModelBackend):
    """Django's passwords, with failures and successes counted for whoever guesses."""

    def get_user(self, user_id: int) -> User | None:
        """Return the person of a session; `has_invitations` is read along, for it stands on every page."""
        invitations = queries.invitations_to(OuterRef("username"), timezone.now())
        user = User.objects.annotate(has_invitations=Exists(invitations)).filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        """Return the person whose password it is, None for anything else."""
        user = super().authenticate(request, username=username, password=password, **kwargs)
        if request is None or not username:
            return user
        keys = _keys(request, username)
        audit.note(
            "failed-sign-in" if user is None else "sign-in",
            user=username,
            address=request.META.get("REMOTE_ADDR") or "-",
        )
        if user is None:
            charges = [counters.Charge(key, 1, WINDOW_S) for key in (keys.address, keys.name)]
            counters.raise_counts(charges)
        else:
            counters.remember(keys.pair, _KNOWN_S)
        return user


def _keys(request: HttpRequest, username: str) -> _Keys:
    name = hashlib.sha256(User.normalize_username(username).casefold().encode("utf-8", "replace")).hexdigest()[:32]
    address = address_of(request)
    return _Keys(f"sign-in:address:{address}", f"sign-in:name:{name}", f"sign-in:known:{name}:{address}")
