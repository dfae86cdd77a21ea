"""The server's clock as seen from here: its offset to ours (`steady`), and how sure of it we are."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from dataclasses import dataclass

from . import steady
from .refusals import CannotStart
from .remote import Away, Remote

BURST = 5
# A quartz clock drifts by some 50 millionths; an old sample is worth that much less than a fresh one.
DRIFT = 50e-6
# The system's clock was set (not slewed) if it moves against the monotonic one by more than this.
STEP_S = 0.1
# What scheduling may add to the four times of an exchange.
NOISE_S = 0.001
# No server plans a joint start further ahead (s): what lies so far was planned by a clock that was set since.
FURTHEST_START_S = 120.0
# One that is further away (s) than most makes it worth to measure the server's clock again.
USUAL_START_S = 5.0
# Whoever waits for an instant looks at the offset again so often (s).
LOOK_EVERY_S = 1.0


@dataclass(frozen=True)
class Sample:
    """One exchange: server time minus ours (s), half its round trip (s), and when it was (monotonic, s)."""

    offset_s: float
    error_s: float
    at: float

    def uncertainty_s(self, now: float) -> float:
        """Return how far the offset may be off at the monotonic time `now`."""
        return self.error_s + (now - self.at) * DRIFT

    def agrees_with(self, later: Sample) -> bool:
        """Return whether both samples can be true of clocks that only drift, some noise apart."""
        allowance = self.uncertainty_s(later.at) + later.error_s + NOISE_S
        return abs(self.offset_s - later.offset_s) <= allowance


class Clock:
    """Keeps the best of the recent samples, that of the least round trip (as NTP does, RFC 5905 section 10)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._samples: deque[Sample] = deque(maxlen=8 * BURST)
        self._set_by = 0.0

    def measure(self, remote: Remote) -> None:
        """Make a burst of exchanges; raises what Remote.call raises."""
        for _number in range(BURST):
            sent = steady.now()
            answer = remote.call("clock")
            received = steady.now()
            try:
                times = float(answer["received"]), float(answer["sent"])
                if not all(map(math.isfinite, times)):
                    raise ValueError("no instants")
                self.add(sent, *times, received)
            except (KeyError, TypeError, ValueError):
                raise Away("the server's clock gave no times") from None

    def add(self, sent: float, server_received: float, server_sent: float, received: float) -> None:
        """Take one exchange in: the four times of RFC 5905 (s), the outer ones ours, the inner ones the server's."""
        offset = ((server_received - sent) + (server_sent - received)) / 2
        round_trip = max(0.0, (received - sent) - (server_sent - server_received))
        fresh = Sample(offset, round_trip / 2, time.monotonic())
        with self._lock:
            # Samples that cannot be true together mean that the server's clock was set: the fresh one counts.
            agreeing = [sample for sample in self._samples if sample.agrees_with(fresh)]
            self._samples.clear()
            self._samples.extend([*agreeing, fresh])

    def best(self) -> Sample | None:
        """Return the sample to trust, or None before the first."""
        now = time.monotonic()
        with self._lock:
            return min(self._samples, key=lambda sample: sample.uncertainty_s(now), default=None)

    def as_json(self) -> dict[str, float] | None:
        """Return the offset (s, added to our time it gives the server's) and its uncertainty (s).

        `set_s` is by how much (s) the system's own clock was set since the agent began, 0 if it was not.
        """
        best = self.best()
        if best is None:
            return None
        set_by = steady.set_by()
        was_set = {"set_s": set_by} if abs(set_by) > STEP_S else {}
        return {"offset_s": best.offset_s, "error_s": best.error_s, **was_set}

    def to_own(self, server_time: float) -> float:
        """Return an instant of server time (s since the epoch) as our clock shows it."""
        best = self.best()
        return server_time - (best.offset_s if best else 0.0)

    def is_usual_start(self, server_time: float) -> bool:
        """Return whether an instant is as near as those are that servers plan, by the offset as it is known."""
        return abs(self.to_own(server_time) - steady.now()) <= USUAL_START_S

    def wait_until(self, server_time: float, stop: threading.Event) -> bool:
        """Wait for an instant of server time (s since the epoch); False if `stop` was set before it.

        CannotStart as soon as it lies further ahead than any server plans: it would be waited for in vain.
        """
        while True:
            left = self.to_own(server_time) - steady.now()
            if left <= 0:
                return not stop.is_set()
            if left > FURTHEST_START_S:
                raise CannotStart("server-clock-set", f"its start lies {left:.0f} s ahead")
            if stop.wait(min(left, LOOK_EVERY_S)):
                return False

    def was_set(self) -> float:
        """Return by how much (s) the system's clock was set since this was asked last; 0 if it was not."""
        by = steady.set_by()
        step = by - self._set_by
        if abs(step) <= STEP_S:
            return 0.0
        self._set_by = by
        return step
