"""The server's clock being set: joins what campaigns tell of it with the times of jobs that go with it."""

from datetime import datetime

from django.utils import timezone

from apps.agents import services as agents
from apps.campaigns import services as campaigns
from apps.core import clock_steps


def note_steps(*, now: datetime) -> list[int]:
    """Say of every run under way that the server's clock was set since the last look, if it was; return of which.

    Once this has returned all is told, by whoever was the first to look: a run that ends reads it then, and limits of
    jobs are as far away as before.
    """
    with clock_steps.since_last_look() as step:
        if step is None:
            return []
        runs = campaigns.tell_clock_step(step=step)
        # It may have been set after the `now` of whoever looks.
        agents.move_times(step=step, now=timezone.now())
        return runs
