"""The log of a campaign."""

from apps.bench.text import Message, _
from apps.campaigns import live
from apps.campaigns.models import Event
from apps.core.models import SetAside

Level = Event.Level


def write_event(
    *, campaign_id: int, message: Message, level: Event.Level = Level.INFO, trial_id: int | None = None
) -> Event:
    """Add a line to the campaign's log and tell its viewers."""
    event = Event.objects.create(campaign_id=campaign_id, trial_id=trial_id, level=level, message=message.as_json())
    live.publish(campaign_id, "event")
    return event


def write_fault(campaign_id: int, fault: SetAside) -> Event:
    """Say in a campaign's log that periodic work failed with something of it, and is tried again."""
    text = _("Something went wrong on our side (%(work)s): it is tried again, and the server's log has the details.")
    return write_event(campaign_id=campaign_id, level=Level.ERROR, message=Message(text, {"work": fault.work}))
