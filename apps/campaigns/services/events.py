"""The log of a campaign."""

from apps.bench.text import Message
from apps.campaigns import live
from apps.campaigns.models import Event

Level = Event.Level


def write_event(
    *, campaign_id: int, message: Message, level: Event.Level = Level.INFO, trial_id: int | None = None
) -> Event:
    """Add a line to the campaign's log and tell its viewers."""
    event = Event.objects.create(campaign_id=campaign_id, trial_id=trial_id, level=level, message=message.as_json())
    live.publish(campaign_id, "event")
    return event
