"""Campaigns made, changed, cloned and deleted."""

from collections.abc import Iterable
from datetime import datetime
from typing import TypedDict, Unpack

from django.db import transaction
from django.http import Http404
from django.utils.translation import gettext

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.bench.text import Message, _
from apps.campaigns import errors, schedules
from apps.campaigns.models import Campaign
from apps.campaigns.models.foreign_names import ForeignName
from apps.campaigns.queries.listings import campaigns_for
from apps.campaigns.services import copies, foreign_names, origins
from apps.core.names import check_seen_in

State = Campaign.State

# Leaves room in the field for what tells a copy from its original.
LONGEST_NAME = 170


@transaction.atomic
def create_campaign(
    *,
    team: Team,
    user: User,
    now: datetime,
    name: str,
    goal: str = "",
    start_at: datetime | None = None,
    cron: str = "",
    cron_timezone: str = "UTC",
    overlap: str = Campaign.Overlap.SKIP,
    made_from: Campaign | None = None,
    visibility: str | None = None,
    names: Iterable[ForeignName] = (),
) -> Campaign:
    """Make a draft; errors.Refused names each field that is wrong.

    `made_from` is the campaign that it is made from, or from what was concluded of it. Unless told otherwise, it is
    seen by whom `origins` says. Hidden in it are also the names of others that come from there, and `names`.
    """
    rights.require(user, team, Role.OPERATOR)
    dates = {"start_at": start_at, "cron": cron, "cron_timezone": cron_timezone, "overlap": overlap}
    schedules.check_start(start_at=start_at, now=now)
    check_seen_in("name", name)
    campaign = Campaign(team=team, created_by=user, name=name, goal=goal, **dates)
    campaign.visibility = visibility or origins.visibility_from(made_from)
    campaign.foreign_names = foreign_names.names_from(made_from, team, names)
    return _save(campaign, now)


class CampaignChanges(TypedDict, total=False):
    """What can be changed of a campaign: name, goal and overlap at any time, the others of a draft only."""

    name: str
    goal: str
    overlap: str
    start_at: datetime | None
    cron: str
    cron_timezone: str


@transaction.atomic
def update_campaign(*, campaign: Campaign, user: User, now: datetime, **changes: Unpack[CampaignChanges]) -> Campaign:
    """Return a campaign with the changes that are given; errors.WrongState for dates of what is no draft any more."""
    campaign = lock_campaign(campaign, user)
    when = {"start_at", "cron", "cron_timezone"}
    if campaign.state != State.DRAFT and any(
        getattr(campaign, name) != value for name, value in changes.items() if name in when
    ):
        raise errors.WrongState(Message(_("Only a draft's dates can be changed: withdraw or clone the campaign.")))
    start_at = changes.get("start_at", campaign.start_at)
    if start_at and start_at != campaign.start_at:
        schedules.check_start(start_at=start_at, now=now)
    if changes.get("name", campaign.name) != campaign.name:
        check_seen_in("name", changes["name"])
    for name, value in changes.items():
        setattr(campaign, name, value)
    return _save(campaign, now)


@transaction.atomic
def clone_campaign(*, campaign: Campaign, user: User, name: str = "") -> Campaign:
    """Return a draft with the same experiments and dates and no trials; it is called “… (copy)” unless named."""
    rights.require(user, campaign.team, Role.OPERATOR)
    check_seen_in("name", name)
    return copies.copy_campaign(
        campaign=campaign,
        name=name or gettext("%(name)s (copy)") % {"name": campaign.name[:LONGEST_NAME]},
        created_by=user,
        cron=campaign.cron,
        cron_timezone=campaign.cron_timezone,
        overlap=campaign.overlap,
    )


def lock_campaign(campaign: Campaign, user: User) -> Campaign:
    """Return the campaign as it now is, locked against other changes until the transaction ends.

    What the user sees and may is asked once it is held, as whoever held it before may have changed that: as
    `require_writer`. Campaign.DoesNotExist if it was deleted meanwhile, which core.races tells.
    """
    held = Campaign.objects.select_for_update(no_key=True).select_related(None).get(pk=campaign.pk)
    require_writer(held, user)
    return held


def require_writer(campaign: Campaign, user: User) -> None:
    """Raise Http404 if the user does not see the campaign now, PermissionDenied if they may not change it.

    To be asked of what hangs on a campaign once that is held.
    """
    if not campaigns_for(user).filter(pk=campaign.pk).exists():
        raise Http404
    rights.require(user, campaign.team, Role.OPERATOR)


def _save(campaign: Campaign, now: datetime) -> Campaign:
    campaign.full_clean()
    if campaign.cron:
        schedules.check_schedule(cron=campaign.cron, timezone=campaign.cron_timezone, now=now)
    campaign.save()
    return campaign
