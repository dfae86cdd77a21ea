"""Kept times of what has been that lie ahead, as a server wrote them whose clock was: they are put to now.

What is compared with now would else wait until the clock has come so far again: a machine may start a year ahead.
Dates that work waits for are chosen anew by whoever keeps them. Of those that are only shown what is under way is put
right, too; what is over is a record of what its clock said.
"""

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps

from apps.agents.models import Job
from apps.agents.services.losses import latest_end
from apps.core import clock, clock_steps, isolation
from apps.core.limits import counters

CORRECT = "correct_times"
# The times (of a model) by which it is judged how long ago something was, or since when it is.
PAST_TIMES = (
    ("accounts.ApiToken", "last_used_at"),
    ("accounts.Invitation", "created_at"),
    ("accounts.Invitation", "declined_at"),
    ("agents.Agent", "set_aside_at"),
    ("agents.AgentInstance", "refused_last_at"),
    ("archive.Import", "claimed_at"),
    ("archive.Import", "updated_at"),
    ("archive.IncomingArchive", "alive_at"),
    ("archive.IncomingArchive", "updated_at"),
    ("archive.KeptText", "written_at"),
    ("archive.SearchEntry", "indexed_at"),
    ("axes.AccessAttempt", "attempt_time"),
    ("campaigns.Campaign", "launched_at"),
    ("campaigns.Campaign", "updated_at"),
    ("campaigns.Reservation", "taken_at"),
    ("campaigns.Run", "updated_at"),
    ("core.LastChange", "at"),
    ("core.SetAside", "first_at"),
    ("core.WorkerTime", "at"),
    ("testbeds.Node", "updated_at"),
    ("testbeds.Site", "updated_at"),
    ("testbeds.Testbed", "updated_at"),
    ("tuning.Analysis", "began_at"),
    ("tuning.RuleFailure", "first_at"),
)
# Those that are of a record once this is so no more.
UNDER_WAY: dict[tuple[str, str], dict[str, Any]] = {
    ("campaigns.Campaign", "launched_at"): {"finished_at": None},
    ("campaigns.Reservation", "taken_at"): {"released_at": None},
}
_EVERY_S = 3600.0
# Whatever is counted for limits begins anew sooner.
_LONGEST_COUNTED_S = 2 * 24 * 3600.0


@dataclass
class _Last:
    """When this process corrected last (monotonic), and how far the clock was ahead of the machine's start then."""

    at: float = float("-inf")
    lead_s: float = 0.0


_last = _Last()


def correct_times(*, now: datetime) -> None:
    """Correct what lies ahead: when this process begins, whenever the clock was set since, and each hour."""
    lead_s = clock_steps.lead()
    if not clock_steps.was_set_since(_last.lead_s) and time.monotonic() - _last.at < _EVERY_S:
        return
    correct(now=now)
    counters.forget_ahead(_LONGEST_COUNTED_S)
    _last.at, _last.lead_s = time.monotonic(), lead_s


def correct(*, now: datetime) -> None:
    """Put to now what lies ahead of it; with a table where that fails the others are corrected all the same."""
    ahead = now + clock.AHEAD

    def put_right(number: int) -> None:
        if number > len(PAST_TIMES):
            _put_jobs_right(now, ahead)
            return
        label, name = place = PAST_TIMES[number - 1]
        rows = apps.get_model(label)._default_manager.filter(**UNDER_WAY.get(place, {}))
        rows.filter(**{f"{name}__gt": ahead}).update(**{name: now})

    isolation.for_each(CORRECT, range(1, len(PAST_TIMES) + 2), put_right, now=now)


def _put_jobs_right(now: datetime, ahead: datetime) -> None:
    """Let what was handed out by a clock that was ahead be late in time, and fence lost jobs for no longer."""
    for name in Job.TIMES_UNDER_WAY:
        Job.objects.filter(state__in=Job.OPEN_STATES, **{f"{name}__gt": ahead}).update(**{name: now})
    lost = Job.objects.filter(may_run_until__gt=ahead, presumed_ended_at=None)
    lost.filter(may_run_until__gt=latest_end(now)).update(may_run_until=latest_end(now))
