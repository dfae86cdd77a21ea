"""How a campaign stands: its state, progress, what it waits for and what is under way."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from apps.campaigns import queries, waits
from apps.campaigns.models import Campaign


def status_of(request: HttpRequest, campaign: Campaign) -> dict[str, Any]:
    """Return what the partial with state, progress and activities shows of a campaign."""
    now = timezone.now()
    is_open = campaign.state in Campaign.OPEN_STATES
    stages = queries.waiting_in(campaign.pk).count() if is_open else 0
    campaign_waits = waits.waits_of([campaign], request.user, now)[campaign.pk]
    is_estimable = queries.is_estimable(campaign, has_known_end=campaign_waits.has_known_end, has_stages=bool(stages))
    return {
        "campaign": campaign,
        "progress": queries.progress_of([campaign.pk])[campaign.pk],
        "waits": campaign_waits,
        "time_left_s": queries.time_left_s(campaign, now=now) if is_estimable else None,
        "activities": queries.activities_of(campaign),
        "waiting": stages,
        "dates": queries.next_dates(campaign, now=now) if campaign.state in ("scheduled", "draft") else (),
    }
