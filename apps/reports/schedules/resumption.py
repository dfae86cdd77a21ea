"""What a series' schedule delivered of a campaign before: each goes once to everybody, as it ended last."""

from datetime import datetime

from django.db.models import QuerySet

from apps.campaigns.models import Campaign
from apps.reports.models import Delivery, Schedule

State = Delivery.State


def is_delivered(*, schedule: Schedule, campaign: Campaign) -> bool:
    """Return whether a campaign was delivered since it ended last: what was run again is delivered anew."""
    return _since_its_end(schedule, campaign).filter(state=State.DONE).exists()


def to_resume(*, schedule: Schedule, campaign: Campaign) -> Delivery | None:
    """Return the latest delivery of a campaign, as it ended last, that reached not everybody; None without any.

    Its edition is there to be mailed to whom it did not reach.
    """
    reached_some = (State.FAILED, State.UNMAILED)
    frozen = _since_its_end(schedule, campaign).filter(edition__language=schedule.language)
    return frozen.filter(state__in=reached_some).order_by("-pk").first()


def _since_its_end(schedule: Schedule, campaign: Campaign) -> QuerySet[Delivery]:
    frozen = Delivery.objects.filter(schedule=schedule, edition__report__campaign=campaign).select_related("edition")
    ended: datetime | None = campaign.finished_at
    return frozen.filter(edition__created_at__gte=ended) if ended else frozen
