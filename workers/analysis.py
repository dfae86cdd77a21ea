"""Draw conclusions from the results of campaigns that have ended."""

import logging
from datetime import datetime

from django.db import transaction

from apps.bench.text import Message, _
from apps.campaigns import queries
from apps.campaigns import services as campaigns
from apps.campaigns.models import Event
from apps.tuning import services as tuning

logger = logging.getLogger(__name__)


def analyse_campaign(*, campaign_id: int, now: datetime) -> bool:
    """Refresh the findings of an ended campaign, once; False if that is done or another worker is at it."""
    with transaction.atomic():
        waiting = queries.to_analyse().select_for_update(skip_locked=True, no_key=True)
        campaign = waiting.filter(pk=campaign_id).first()
        if campaign is None:
            return False
        try:
            with transaction.atomic():
                tuning.judge_verification(campaign=campaign, now=now)
                tuning.refresh_findings(campaign=campaign)
        except Exception:
            # The campaign's results stand without findings; trying again would meet the same fault each second.
            logger.exception("No findings could be drawn from campaign %s", campaign_id)
            text = _("No findings could be drawn from the results; the server's log has the details.")
            campaigns.write_event(campaign_id=campaign_id, level=Event.Level.ERROR, message=Message(text))
        campaigns.mark_analysed(campaign=campaign, now=now)
    return True
