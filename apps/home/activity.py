"""What runs and waits now, and what the next days bring."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from django.utils.translation import gettext as _

from apps.accounts import rights
from apps.accounts.models import User
from apps.campaigns import queries as campaigns
from apps.campaigns import waits
from apps.campaigns.models import Campaign
from apps.reports.schedules import queries as schedules

# So many campaigns are shown with what they do; of others only how many there are is told.
SHOWN = 6
# What is due within this time is told.
AHEAD = timedelta(days=7)
MOST_DATES = 8


@dataclass(frozen=True)
class CampaignUnderWay:
    """A campaign that runs or is paused: one of the runs under way, and the time left (s) where it can be told."""

    campaign: Campaign
    run: campaigns.RunUnderWay | None
    left_s: float | None


@dataclass(frozen=True)
class Ongoing:
    """The campaigns under way, the latest first; `waiting` of the `running` ones go on with nothing by themselves."""

    shown: list[CampaignUnderWay]
    running: int
    waiting: int
    more: int
    waits: list[waits.Waits]


@dataclass(frozen=True)
class ComingDate:
    """Something that begins by itself `at` a time."""

    at: datetime
    title: str
    detail: str
    url: str
    symbol: str


def activity_of(user: User, now: datetime) -> Ongoing:
    """Return the campaigns that count for the user and are under way."""
    rows = campaigns.counted(campaigns.campaigns_for(user), user).filter(state__in=Campaign.OPEN_STATES)
    under_way = list(rows.order_by("-launched_at", "-pk"))
    waits.attach_waits(under_way, user, now)
    latest = under_way[:SHOWN]
    campaigns.attach_progress(latest)
    rights.attach_foreign_teams(latest, user)
    stuck = sum(campaign.waits.is_stuck for campaign in under_way)
    return Ongoing(
        shown=[_under_way(campaign, now) for campaign in latest],
        running=len(under_way) - stuck,
        waiting=stuck,
        more=len(under_way) - len(latest),
        waits=[campaign.waits for campaign in under_way],
    )


def coming_dates(user: User, now: datetime) -> list[ComingDate]:
    """Return what begins by itself within the next days, the soonest first."""
    dates = [*_campaigns(user, now), *_reports(user, now)]
    return sorted(dates, key=lambda date: (date.at, date.title))[:MOST_DATES]


def _under_way(campaign: Campaign, now: datetime) -> CampaignUnderWay:
    is_estimable = campaigns.is_estimable(
        campaign,
        has_known_end=campaign.waits.has_known_end,
        has_stages=campaigns.waiting_in(campaign.pk).exists(),
    )
    return CampaignUnderWay(
        campaign,
        next(iter(campaigns.activities_of(campaign, limit=1)), None),
        campaigns.time_left_s(campaign, now=now) if is_estimable else None,
    )


def _campaigns(user: User, now: datetime) -> Iterator[ComingDate]:
    due = campaigns.counted(campaigns.campaigns_for(user), user).filter(
        state=Campaign.State.SCHEDULED, next_at__gt=now, next_at__lte=now + AHEAD
    )
    for campaign in due.order_by("next_at")[:MOST_DATES]:
        detail = _("a date of the series") if campaign.cron else _("launched once")
        if campaign.next_at:
            yield ComingDate(campaign.next_at, campaign.name, detail, campaign.get_absolute_url(), "play-circle")


def _reports(user: User, now: datetime) -> Iterator[ComingDate]:
    rows = schedules.schedules_for(user).filter(is_active=True, next_at__gt=now, next_at__lte=now + AHEAD)
    for schedule in islice(rows.order_by("next_at"), MOST_DATES):
        if schedule.next_at:
            yield ComingDate(
                schedule.next_at, schedule.name, _("report"), schedule.get_absolute_url(), "file-earmark-text"
            )
