"""Who may see a campaign, and under which licence its figures may be used."""

from collections.abc import Callable, Collection

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.bench.text import Message, _
from apps.campaigns import errors, live
from apps.campaigns.models import Campaign, Share
from apps.campaigns.services import offers
from apps.campaigns.services.campaigns import lock_campaign
from apps.campaigns.services.events import write_event

Visibility = Campaign.Visibility

# What the rooms above do with campaigns of one team once others may see them than before, in the same transaction.
_after: list[Callable[[Collection[Campaign]], None]] = []


def after(step: Callable[[Collection[Campaign]], None]) -> None:
    """Have a function of the campaigns called after each change of who sees them, as `deletion.before` has one."""
    _after.append(step)


@transaction.atomic
def share_campaign(
    *,
    campaign: Campaign,
    user: User,
    visibility: str,
    shared_with: Collection[str] = (),
    redacted: bool = True,
    licence: str = "",
) -> Campaign:
    """Say who sees the campaign; errors.Refused names what does not fit.

    `shared_with` are short names of teams, whether or not there are such now: each that is sees it once it accepts.
    """
    campaign = lock_campaign(campaign, user)
    others = [name for name in shared_with if name != campaign.team.slug]
    if visibility == Visibility.SHARED and not others:
        raise errors.Refused({"shared_with": Message(_("Name at least one other team, or choose who else sees it."))})
    if visibility == Visibility.PRIVATE and campaign.created_by_id != user.pk:
        text = _("Only whoever made the campaign can keep it to themselves: ask %(maker)s.")
        maker = campaign.created_by.get_username() if campaign.created_by else "–"
        raise errors.Refused({"visibility": Message(text, {"maker": maker})})
    earlier, shared_names = (
        (campaign.visibility, campaign.redacted),
        set(campaign.shares.values_list("name", flat=True)),
    )
    campaign.visibility, campaign.redacted, campaign.licence = visibility, redacted, licence
    campaign.full_clean()
    campaign.save(update_fields=["visibility", "redacted", "licence", "updated_at"])
    names = others if visibility == Visibility.SHARED else ()
    offers.offer(campaign=campaign, user=user, names=names, now=timezone.now())
    dates = _take_back_of_dates(campaign, earlier, shared_names.difference(names))
    if dates or earlier != (campaign.visibility, campaign.redacted):
        for step in _after:
            step([campaign, *dates])
    message = Message(_EVENTS[Visibility(visibility)], {"user": user.get_username()})
    write_event(campaign_id=campaign.pk, message=message)
    live.publish(campaign.pk, "campaign")
    return campaign


# From the fewest to the most who see it.
_WIDER = (Visibility.PRIVATE, Visibility.TEAM, Visibility.SHARED, Visibility.PUBLIC)


def _take_back_of_dates(campaign: Campaign, earlier: tuple[str, bool], withdrawn: Collection[str]) -> list[Campaign]:
    """Take back of a series' dates what is taken back of the series; whom it is shown to besides sees the next.

    A date that somebody showed otherwise than the series stays as it is; returns those that do not.
    """
    dates = Campaign.objects.filter(series=campaign, deleting_at=None)
    Share.objects.filter(campaign__in=dates, name__in=withdrawn).delete()
    places = [_WIDER.index(Visibility(name)) for name in (earlier[0], campaign.visibility)]
    hides_names = campaign.visibility == Visibility.PUBLIC and campaign.redacted > earlier[1]
    if not (places[1] < places[0] or hides_names):
        return []
    alike = list(dates.filter(visibility=earlier[0], redacted=earlier[1], shares=None))
    dates.filter(pk__in=[date.pk for date in alike]).update(
        visibility=campaign.visibility, redacted=campaign.redacted, updated_at=timezone.now()
    )
    return alike


_EVENTS = {
    Visibility.PRIVATE: _("%(user)s keeps the campaign to themselves."),
    Visibility.TEAM: _("%(user)s shows the campaign to the team."),
    Visibility.SHARED: _("%(user)s shows the campaign to other teams, too."),
    Visibility.PUBLIC: _("%(user)s shows the campaign to everybody."),
}
