"""Who may see a campaign, and under which licence its figures may be used."""

from collections.abc import Collection

from django.db import transaction

from apps.accounts import scoping
from apps.accounts.models import Role, Team, User
from apps.bench.text import Message, _
from apps.campaigns import errors, live
from apps.campaigns.models import Campaign
from apps.campaigns.services.campaigns import lock_campaign
from apps.campaigns.services.events import write_event

Visibility = Campaign.Visibility


@transaction.atomic
def share_campaign(
    *,
    campaign: Campaign,
    user: User,
    visibility: str,
    shared_with: Collection[Team] = (),
    redacted: bool = True,
    licence: str = "",
) -> Campaign:
    """Say who sees the campaign; errors.Refused names what does not fit. Teams are kept only where they are named."""
    scoping.require(user, campaign.team, Role.OPERATOR)
    campaign = lock_campaign(campaign)
    others = {team.pk for team in shared_with} - {campaign.team_id}
    if visibility == Visibility.SHARED and not others:
        raise errors.Refused({"shared_with": Message(_("Name at least one other team, or choose who else sees it."))})
    if visibility == Visibility.PRIVATE and campaign.created_by_id != user.pk:
        text = _("Only whoever made the campaign can keep it to themselves: ask %(maker)s.")
        maker = campaign.created_by.get_username() if campaign.created_by else "–"
        raise errors.Refused({"visibility": Message(text, {"maker": maker})})
    campaign.visibility, campaign.redacted, campaign.licence = visibility, redacted, licence
    campaign.full_clean()
    campaign.save(update_fields=["visibility", "redacted", "licence", "updated_at"])
    campaign.shared_with.set(others if visibility == Visibility.SHARED else ())
    message = Message(_EVENTS[Visibility(visibility)], {"user": user.get_username()})
    write_event(campaign_id=campaign.pk, message=message)
    live.publish(campaign.pk, "campaign")
    return campaign


_EVENTS = {
    Visibility.PRIVATE: _("%(user)s keeps the campaign to themselves."),
    Visibility.TEAM: _("%(user)s shows the campaign to the team."),
    Visibility.SHARED: _("%(user)s shows the campaign to other teams, too."),
    Visibility.PUBLIC: _("%(user)s shows the campaign to everybody."),
}
