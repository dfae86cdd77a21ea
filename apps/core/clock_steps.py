"""Whether the server's clock was set since anybody looked: a machine's processes share one mark at the broker."""

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import redis

from apps.core import signs

# Less is no step: clocks are led to the right time slowly, which the time since the start of the machine follows.
LEAST_STEP_S = 2.0
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@contextmanager
def since_last_look() -> Iterator[timedelta | None]:
    """Give by how much the clock was set since the last look on this machine, None if it was not.

    A block that fails has not been told of it: the next look gives it again. While the broker is away, or takes
    nothing, nobody looks.
    """
    boot, lead_s, before_s = _boot(), lead(), None
    with contextlib.suppress(redis.RedisError):
        before_s = signs.clock_lead(boot)
    step_s = 0.0 if before_s is None else lead_s - before_s
    yield timedelta(seconds=step_s) if abs(step_s) >= LEAST_STEP_S else None
    with contextlib.suppress(redis.RedisError):
        signs.note_clock_lead(boot, lead_s)


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
