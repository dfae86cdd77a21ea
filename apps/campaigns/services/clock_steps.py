"""The server's clock being set while runs are under way: told of each, for no time tells how long it took."""

from datetime import timedelta

from django.db import transaction

from apps.bench.text import Message, _
from apps.campaigns.models import Event, Run
from apps.campaigns.services.events import write_event
from apps.core import leases

# What the log says of it: which runs it concerns is read from there.
CLOCK_SET = _(
    "The server's clock was set by %(seconds)s s during attempt %(attempt)s of this trial (run %(run)s): its times "
    "do not tell how long it took."
)

# What whoever begins runs shares, and who tells of a step is alone at.
BEGINNING = "beginning of runs"


@transaction.atomic
def tell_clock_step(*, step: timedelta) -> list[int]:
    """Say of every run under way that the server's clock was set by a step; return of which."""
    # A run that has begun and is not committed has times of before, and is not seen yet.
    leases.be_alone(BEGINNING)
    runs = list(Run.objects.filter(state__in=Run.OPEN_STATES).select_related("trial").order_by("pk"))
    for run in runs:
        values = {"seconds": f"{step.total_seconds():+.0f}", "attempt": run.attempt, "run": run.pk}
        write_event(
            campaign_id=run.trial.campaign_id,
            trial_id=run.trial_id,
            level=Event.Level.WARNING,
            message=Message(CLOCK_SET, values),
        )
    return [run.pk for run in runs]


def steps_during(run: Run) -> list[str]:
    """Return by how many seconds ("+3600") the server's clock was set while a run was under way, in their order."""
    events = Event.objects.filter(trial=run.trial_id, message__msgid=CLOCK_SET, message__params__run=run.pk)
    return list(events.order_by("pk").values_list("message__params__seconds", flat=True))
