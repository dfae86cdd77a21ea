"""Draw conclusions from the results of campaigns that have ended."""

import functools
import logging
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from apps.bench.rules import runner
from apps.bench.text import Message
from apps.campaigns.models import Campaign
from apps.core import isolation, troubles
from apps.core.shutdown import ShuttingDown, put_off
from apps.tuning import evidence
from apps.tuning import services as tuning
from apps.tuning.analysis import services as analyses
from workers import limits

logger = logging.getLogger(__name__)

# A worker that analyses a campaign is ended after so long (s), and one rule after so long.
LIMIT_S = analyses.LIMIT.total_seconds()
RULE_LIMIT_S = 20.0


def analyse_campaign(*, campaign_id: int, now: datetime) -> bool:
    """Refresh the findings of an ended campaign, once; False if that is done or another worker is at it."""
    with put_off() as claim:
        is_first = analyses.is_first(campaign_id=campaign_id)
        if not analyses.begin_analysis(campaign_id=campaign_id, now=now):
            return False
        try:
            claim.begun()
            return _carry_out(campaign_id, now, is_first=is_first)
        except (ShuttingDown, Exception) as error:
            # What the service could not do now is no fault of the campaign's: nothing is given up for it.
            if isinstance(error, ShuttingDown) or troubles.is_ours(error):
                isolation.let_go(error, lambda: analyses.leave_analysis(campaign_id=campaign_id))
            raise


def _carry_out(campaign_id: int, now: datetime, *, is_first: bool) -> bool:
    with transaction.atomic():
        campaign = analyses.lock_begun(campaign_id=campaign_id)
        if campaign is None:
            return False
        # Findings that are drawn anew from results that are as they were tell no other campaign anything.
        has_news = campaign.analysed_at is None
        try:
            with transaction.atomic():
                tuning.judge_verification(campaign=campaign, now=now)
                guard = functools.partial(limits.at_most, RULE_LIMIT_S)
                tuning.draw_conclusions(campaign=campaign, now=now, guard=guard)
        except Exception as error:
            if troubles.is_ours(error):
                raise
            # The campaign's results stand without findings, and whoever reads them is told so.
            logger.exception("No findings could be drawn from campaign %s", campaign_id)
            failure = Message("%(text)s", {"text": runner.words_of(error)})
            analyses.end_analysis(campaign=campaign, now=timezone.now(), error=failure)
        if has_news:
            _ask_others(campaign, is_first=is_first)
    return True


def _ask_others(campaign: Campaign, *, is_first: bool) -> None:
    """Have the findings of other campaigns drawn anew that rest on what this one shows of their paths."""
    try:
        with transaction.atomic():
            analyses.ask_again(campaign_ids=evidence.hearing_of(campaign, is_first=is_first))
    except Exception:
        # This campaign's own findings stand.
        logger.exception("Nobody knows whose findings rest on campaign %s", campaign.pk)
