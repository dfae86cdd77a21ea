"""Campaigns that have ended, and rules that fail on them."""

import dataclasses
import datetime
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from apps.bench import rules
from apps.campaigns.models import Campaign

# The rule that fails, as failures name it.
BROKEN = "tcp-bdp"
VERSION = next(rule.version for rule in rules.registered() if rule.name == BROKEN)
IN_WORDS = f"{BROKEN} (version {VERSION})"


def ended(campaign: Campaign, *, analysed: bool = True) -> Campaign:
    """Return the campaign as one that has ended, with its results analysed or not."""
    now = timezone.now()
    Campaign.objects.filter(pk=campaign.pk).update(
        state="finished", finished_at=now, analysed_at=now if analysed else None
    )
    return Campaign.objects.get(pk=campaign.pk)


def failing(*_evidence: object) -> None:
    """Conclude nothing, but fail."""
    raise ValueError("math domain error")


def endless(*_evidence: object) -> None:
    """Conclude nothing, ever."""
    while True:
        pass


def break_rule(patch: pytest.MonkeyPatch, name: str, conclude: Callable[..., Any] = failing) -> None:
    """Have a rule conclude in another way: fail, unless told otherwise."""
    for which in ("of_ends", "of_whole"):
        known = getattr(rules, which)()
        assert known
        changed = tuple(dataclasses.replace(rule, conclude=conclude) if rule.name == name else rule for rule in known)
        patch.setattr(rules, which, lambda changed=changed: changed)
    assert name in {rule.name for rule in rules.registered()}


def later(moment: datetime.datetime, **more: float) -> datetime.datetime:
    """Return a moment after another."""
    return moment + datetime.timedelta(**more)
