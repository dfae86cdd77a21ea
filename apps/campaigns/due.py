"""When a trial that is tried again may start, though the clock was wrong when that was written."""

from datetime import datetime, timedelta

from django.db.models import DateTimeField, ExpressionWrapper, F, OuterRef, Q, Value

from apps.campaigns.models import Trial
from apps.core import clock


def due(now: datetime, wait_s: F | OuterRef) -> Q:
    """Return the condition that a trial may start at `now`; `wait_s` is its experiment's wait before a retry.

    What is to wait for longer than that was written by a clock that was ahead: it has waited already.
    """
    wait = Value(timedelta(seconds=1)) * wait_s
    longest = ExpressionWrapper(Value(now + clock.AHEAD) + wait, output_field=DateTimeField())
    return Q(not_before=None) | Q(not_before__lte=now) | Q(not_before__gt=longest)


def is_put_off(trial: Trial, now: datetime) -> bool:
    """Return whether a trial that failed waits for its retry."""
    if trial.not_before is None or trial.not_before <= now:
        return False
    return not clock.is_ahead(trial.not_before, now + timedelta(seconds=trial.experiment.retry_wait_s))
