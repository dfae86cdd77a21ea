"""Whether the server's clock was set since anybody looked: a machine's processes share one mark."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from django.db import transaction

from apps.core.models import ClockLead

# Less is no step: clocks are led to the right time slowly, which the time since the start of the machine follows.
LEAST_STEP_S = 2.0
_BOOT = Path("/proc/sys/kernel/random/boot_id")
# A clock that is led adds up to a step in hours: so much (s) of it is kept, and not each look.
_NOTED_S = LEAST_STEP_S / 4
# The marks of the last starts of machines are kept.
_MOST_LEADS = 64


@contextmanager
def since_last_look() -> Iterator[timedelta | None]:
    """Give by how much the clock was set since the last look on this machine, None if it was not.

    The block is a transaction, in which others wait where it was. One that fails has not been told of it: the next
    look gives it again.
    """
    boot = _boot()
    leads = ClockLead._default_manager.filter(boot=boot).values_list("lead_s", flat=True)
    before_s, lead_s = leads.first(), lead()
    # Who only looks waits for nobody: one that stands still meanwhile would keep every run open.
    if before_s is not None and abs(lead_s - before_s) < _NOTED_S:
        yield None
        return
    with transaction.atomic():
        before_s, lead_s = leads.select_for_update().first(), lead()
        step_s = 0.0 if before_s is None else lead_s - before_s
        yield timedelta(seconds=step_s) if abs(step_s) >= LEAST_STEP_S else None
        note_lead(boot, lead_s)


def note_lead(boot: str, lead_s: float) -> None:
    """Keep how far a machine's clock is ahead (s) for the next look."""
    _lead, is_new = ClockLead._default_manager.update_or_create(boot=boot, defaults={"lead_s": lead_s})
    if is_new:
        past = ClockLead._default_manager.order_by("-pk").values_list("pk", flat=True)[_MOST_LEADS:]
        ClockLead._default_manager.filter(pk__in=list(past)).delete()


def was_set_since(lead_s: float) -> bool:
    """Return whether the clock was set since it was so far ahead (`lead`)."""
    return abs(lead() - lead_s) >= LEAST_STEP_S


def lead() -> float:
    """Return how far (s) the clock is ahead of the time since the machine started, its sleep included."""
    kind = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.time() - time.clock_gettime(kind)


def _boot() -> str:
    """Return what names this start of this machine."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""
