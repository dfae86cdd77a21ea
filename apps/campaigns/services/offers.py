"""Offer a campaign to other teams, accept, decline, let go: nothing comes to another team unasked.

What is answered to whoever offers never depends on whether there is such a team, or on whether it declined.
"""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from apps.accounts import rights
from apps.accounts.models import Role, Team, User
from apps.accounts.services import locked
from apps.bench.text import Message, _
from apps.campaigns import errors, live
from apps.campaigns.models import Campaign, Share, SparedTeam
from apps.campaigns.queries import offers as queries
from apps.core import audit

State = Share.State
# Open at a time: of a team, and of one person in all their teams, of which anybody may make many.
MOST_OFFERS = 50


def offer(*, campaign: Campaign, user: User, names: Collection[str], now: datetime) -> None:
    """Offer the campaign, which must be held, to the teams of these short names, and take all other offers back.

    errors.Refused if too many offers are then open.
    """
    campaign.shares.exclude(name__in=names).delete()
    _take_over(campaign, user)
    shared_names = set(campaign.shares.values_list("name", flat=True))
    more = [name for name in dict.fromkeys(names) if name not in shared_names]
    if more and len(more) > _room(campaign, user):
        text = _("At most %(most)s offers may be open: take some back, or wait until they are accepted.")
        raise errors.Refused({"shared_with": Message(text, {"most": MOST_OFFERS})})
    _write(campaign, user, more, now)


def copy_offers(campaign: Campaign, copy: Campaign) -> None:
    """Give a date of a series the offers that were accepted of the series."""
    for share in campaign.shares.filter(state=State.ACCEPTED):
        share.pk, share._state.adding, share.campaign = None, True, copy
        share.save()


@transaction.atomic
def accept(*, share: Share, user: User, now: datetime) -> Share:
    """Let the campaign be seen, and counted, by the team it is offered to; Share.DoesNotExist if it is taken back.

    errors.WrongState if whoever offered it may not any more: an offer ends with the right by which it was made.
    """
    locked(share.campaign.team)
    row, team = _held(share, user)
    if row.state == State.OFFERED:
        if not rights.still_may(row.offered_by_id, row.campaign.team, Role.OPERATOR):
            text = _("Whoever offered this may not write for %(team)s any more: ask that team to offer it again.")
            raise errors.WrongState(Message(text, {"team": row.campaign.team.name}))
        _decide(row, user, now, state=State.ACCEPTED, team=team)
        audit.note("share-accepted", campaign=row.campaign_id, team=team.slug, by=user.username)
    return row


@transaction.atomic
def decline(*, share: Share, user: User, now: datetime) -> None:
    """Hide the offer, and for a while any other of the same team; or let go of what was accepted, with its dates.

    What the team let go of is hidden from it at once. Share.DoesNotExist if it is taken back.
    """
    row, team = _held(share, user)
    campaign, was_accepted = row.campaign, row.is_accepted
    _decide(row, user, now, state=State.DECLINED, team=None)
    if was_accepted:
        dates = Share.objects.filter(campaign__series=campaign, team=team, state=State.ACCEPTED)
        dates.update(state=State.DECLINED, team=None, decided_by=user, decided_at=now)
    until = now + SparedTeam.LASTS
    SparedTeam.objects.update_or_create(team=campaign.team, name=row.name, defaults={"until": until})
    live.publish(campaign.pk, "campaign")
    audit.note("share-declined", campaign=row.campaign_id, team=team.slug, by=user.username)


def _take_over(campaign: Campaign, user: User) -> None:
    """Have what is offered still, by somebody who may not any more, be offered by whoever offers the campaign now."""
    for share in campaign.shares.exclude(state=State.ACCEPTED):
        if not rights.still_may(share.offered_by_id, campaign.team, Role.OPERATOR):
            share.offered_by = user
            share.save(update_fields=["offered_by", "updated_at"])


def _decide(row: Share, user: User, now: datetime, **values: object) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.decided_by, row.decided_at = user, now
    row.save()


def team_of(share: Share) -> Team:
    """Return the team that decides on an offer, which there is."""
    return share.team or Team.objects.get(slug=share.name)


def _held(share: Share, user: User) -> tuple[Share, Team]:
    """Return the offer as it now is, held, and the team that decides on it; only its operators do."""
    row = queries.offers_to(user).select_for_update(of=("self",)).get(pk=share.pk)
    team = team_of(row)
    rights.require(user, team, Role.OPERATOR)
    return row, team


def _room(campaign: Campaign, user: User) -> int:
    """Return how many more offers may be opened by the campaign's team and by the person."""
    locked(campaign.team)
    waiting = Share.objects.exclude(state=State.ACCEPTED)
    open_offers = max(
        waiting.filter(campaign__team=campaign.team_id).count(), waiting.filter(offered_by=user).count()
    )
    return max(0, MOST_OFFERS - open_offers)


def _write(campaign: Campaign, user: User, names: Collection[str], now: datetime) -> None:
    spared = set(
        SparedTeam.objects.filter(team=campaign.team_id, name__in=names, until__gt=now).values_list("name", flat=True)
    )
    Share.objects.bulk_create(
        Share(
            campaign=campaign,
            name=name,
            offered_by=user,
            state=State.DECLINED if name in spared else State.OFFERED,
        )
        for name in names
    )
