"""Charge what is asked for to its policies, and say what is left of them.

The headers are those of the IETF draft "RateLimit header fields for HTTP" (draft-ietf-httpapi-ratelimit-headers,
version 09 and later): `RateLimit-Policy: "token";q=30000;w=60` and `RateLimit: "token";r=29990;t=41`.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.conf import settings

from apps.bench.text import Message
from apps.core.limits.counters import Charge, WindowCount, raise_counts

# What is not counted in requests says so.
_UNITS = {"answers": ';qu="content-bytes"'}


@dataclass(frozen=True)
class QuotaState:
    """A policy as it stands: its quota in a window (s), what is left of it, and when the window ends (s from now)."""

    policy: str
    quota: int
    window_s: int
    left: int
    ends_in_s: float

    @property
    def is_exceeded(self) -> bool:
        """Say whether more was asked for than the policy allows."""
        return self.left < 0

    @property
    def retry_after_s(self) -> int:
        """Return when to ask again, in whole seconds."""
        return max(1, math.ceil(self.ends_in_s))


def charge(who: Mapping[str, str], costs: Mapping[str, int] | None = None) -> list[QuotaState]:
    """Charge {policy: who is charged} with a cost of 1 unless another is given; nothing if nothing can be counted."""
    rates = {policy: settings.RATE_LIMITS[policy] for policy in who if policy in settings.RATE_LIMITS}
    cost_of = costs or {}
    charges = [
        Charge(f"{policy}:{who[policy]}", cost_of.get(policy, 1), rate.window_s) for policy, rate in rates.items()
    ]
    counts: Iterable[WindowCount] = raise_counts(charges) or ()
    return [
        QuotaState(policy, rate.quota, rate.window_s, rate.quota - count.count, count.ends_in_s)
        for (policy, rate), count in zip(rates.items(), counts, strict=False)
    ]


class LimitExceededError(Exception):
    """More was asked for than a policy allows: 429 with `message`, whose `seconds` are `retry_after_s`."""

    def __init__(self, message: Message, retry_after_s: int) -> None:
        self.message = Message(message.msgid, {**message.params, "seconds": retry_after_s})
        self.retry_after_s = retry_after_s
        super().__init__(str(self.message))


def charge_or_refuse(who: Mapping[str, str], refusal: Message) -> None:
    """Charge policies; LimitExceededError with the refusal, which has a place for `seconds`, if one is exceeded."""
    exceeded = [state for state in charge(who) if state.is_exceeded]
    if exceeded:
        raise LimitExceededError(refusal, max(state.retry_after_s for state in exceeded))


def headers_of(states: Iterable[QuotaState]) -> dict[str, str]:
    """Return the headers that tell what is left."""
    all_states = list(states)
    if not all_states:
        return {}
    policies = (
        f'"{state.policy}";q={state.quota}{_UNITS.get(state.policy, "")};w={state.window_s}' for state in all_states
    )
    left = (f'"{state.policy}";r={max(0, state.left)};t={state.retry_after_s}' for state in all_states)
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(left)}
