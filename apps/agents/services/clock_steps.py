"""The server's clock being set while jobs are under way: when they began goes with it, and limits last."""

from datetime import datetime, timedelta

from django.db.models import F, Q

from apps.agents.models import Job
from apps.agents.services.losses import latest_end
from apps.core import clock


def move_times(*, step: timedelta, now: datetime) -> None:
    """Move what was written of jobs under way, and of lost ones that may run, before the clock was set by a step.

    Set ahead, that is what is no later than the clock would be without the step; set back, what lies AHEAD. (Since
    then only the look that came upon the step has passed.)
    """
    is_ahead = step > timedelta()

    def is_of_before(name: str) -> dict[str, datetime]:
        return {f"{name}__lte": now - step} if is_ahead else {f"{name}__gt": now + clock.AHEAD}

    for name in Job.TIMES_UNDER_WAY:
        opened = Job.objects.filter(state__in=Job.OPEN_STATES, **is_of_before(name))
        opened.update(**{name: F(name) + step})
    fences = Job.objects.filter(presumed_ended_at=None)
    if is_ahead:
        # Those that were not over yet.
        fences = fences.filter(may_run_until__gt=now - step)
    else:
        # Those of before the step: by the clock as it is they were not lost just now, or would end too late.
        lost_before = Q(ended_at__gt=now) | Q(ended_at__lte=now - clock.AHEAD) | Q(may_run_until__gt=latest_end(now))
        fences = fences.filter(lost_before, may_run_until__gt=now)
    fences.update(may_run_until=F("may_run_until") + step)
