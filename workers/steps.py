"""What a run needs next, decided from its plan and the states of its jobs; no database, no clock."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


class Step(enum.Enum):
    """The next thing to do for a run."""

    WAIT = "wait"
    NEXT_STAGE = "next stage"
    STOP = "stop"
    CLEAN_UP = "clean up"
    CLOSE = "close"


@dataclass(frozen=True)
class JobView:
    """What the decision needs to know of a job."""

    background: bool
    awaits_pattern: bool
    has_started: bool
    is_ready: bool
    has_ended: bool
    has_fault: bool
    ended_at: datetime | None = None
    optional: bool = False
    stage: int = 0
    # Of one that was lost: until when its program may run on.
    may_run_until: datetime | None = None

    @property
    def lets_go_on(self) -> bool:
        """Return whether the next stage may begin as far as this job is concerned."""
        if not self.background or (self.optional and self.has_ended):
            return self.has_ended
        return self.is_ready if self.awaits_pattern else self.has_started

    @property
    def is_broken(self) -> bool:
        """Return whether the run can give no result because of this job."""
        gave_up = self.background and self.awaits_pattern and self.has_ended and not self.is_ready
        return (self.has_fault or gave_up) and not self.optional


def next_step(
    *, stages: int, stage: int, stopping: bool, cancelled: bool, jobs: Sequence[JobView], cleans: bool = False
) -> Step:
    """Return what a run in `stage` (0 to `stages` - 1) needs, given the jobs of all its stages so far.

    Background jobs are stopped when the last stage is done, and every job when the run is cancelled or one of them
    is broken; the run is closed when all have ended. With `cleans` one that ends early is cleaned up after first.
    """
    if all(job.has_ended for job in jobs):
        if cleans and (stopping or cancelled or any(job.is_broken for job in jobs)):
            return Step.CLEAN_UP
        done = stopping or cancelled or stage == stages - 1 or any(job.is_broken for job in jobs)
        return Step.CLOSE if done else Step.NEXT_STAGE
    if stopping:
        return Step.WAIT
    if cancelled or any(job.is_broken for job in jobs):
        return Step.STOP
    if not all(job.lets_go_on for job in jobs):
        return Step.WAIT
    return Step.NEXT_STAGE if stage < stages - 1 else Step.STOP
