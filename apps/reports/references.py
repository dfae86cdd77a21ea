"""What becomes of report schedules when their series goes; campaigns import this at the start."""

from datetime import datetime

from apps.bench.text import Message, _
from apps.campaigns.errors import WrongState
from apps.campaigns.models import Campaign
from apps.campaigns.services import deletion
from apps.reports.models import Schedule


def keep_delivered(campaign: Campaign, _now: datetime) -> None:
    """Raise WrongState for a series that a schedule delivers: its recipients would wait for reports in vain."""
    schedule = Schedule.objects.filter(series=campaign).first()
    if schedule is not None:
        text = _("The report schedule “%(schedule)s” delivers it: delete the schedule first.")
        raise WrongState(Message(text, {"schedule": schedule.name}))


deletion.before(keep_delivered)
