"""Draw conclusions from the results of campaigns that have ended."""

import functools
import logging
from datetime import datetime

from django.db import transaction

from apps.bench.rules import runner
from apps.bench.text import Message
from apps.core import isolation
from apps.core.shutdown import ShuttingDown, put_off
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
        if not analyses.begin_analysis(campaign_id=campaign_id, now=now):
            return False
        try:
            claim.begun()
            return _carry_out(campaign_id, now)
        except ShuttingDown as error:
            isolation.let_go(error, lambda: analyses.leave_analysis(campaign_id=campaign_id))


def _carry_out(campaign_id: int, now: datetime) -> bool:
    with transaction.atomic():
        campaign = analyses.lock_begun(campaign_id=campaign_id)
        if campaign is None:
            return False
        try:
            with transaction.atomic():
                tuning.judge_verification(campaign=campaign, now=now)
                guard = functools.partial(limits.at_most, RULE_LIMIT_S)
                tuning.draw_conclusions(campaign=campaign, now=now, guard=guard)
        except Exception as error:
            # The campaign's results stand without findings, and whoever reads them is told so.
            logger.exception("No findings could be drawn from campaign %s", campaign_id)
            failure = Message("%(text)s", {"text": runner.words_of(error)})
            analyses.end_analysis(campaign=campaign, now=now, error=failure)
    return True
