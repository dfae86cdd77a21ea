"""Campaigns deleted: small ones at once, large ones piece by piece by a worker, while everybody goes on."""

import time
from collections.abc import Callable
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.bench.text import Message, _
from apps.campaigns import errors
from apps.campaigns.models import Campaign, Reservation, Share, Tombstone, Trial
from apps.campaigns.services.campaigns import lock_campaign
from apps.core import immutability, isolation, leases, queue, turns

CONTINUE_DELETIONS = "continue_deletions"
_ASKED = turns.TurnFields("team", "", "deleting_at")
# Up to so many trials are deleted while the person waits: well under a second.
AT_ONCE = 500
# Trials deleted in one transaction.
BATCH = 2000
# Of so many trials at most it is kept, in digests, what they were: to look through more takes a worker too long.
MOST_DIGESTED = 20_000
# A worker deletes for so long (s) and then lets others have their turn.
TURN_S = 20.0

# What the rooms above do before a campaign goes, in the same transaction: refuse it, or end what rests on it.
_before: list[Callable[[Campaign, datetime], None]] = []


def before(step: Callable[[Campaign, datetime], None]) -> None:
    """Have a function of the campaign and the time called before each deletion; it may raise errors.WrongState.

    A room says so in its module `references`, which is imported at the start.
    """
    _before.append(step)


# What tells later whether what is brought back is what was deleted: {part: digest} of a campaign.
_digests: list[Callable[[Campaign], dict[str, str]]] = []


def keep_digests(digests_of: Callable[[Campaign], dict[str, str]]) -> None:
    """Have a function of the campaign called before each deletion, and keep what it returns in the tombstone."""
    _digests.append(digests_of)


@transaction.atomic
def delete_campaign(*, campaign: Campaign, user: User, now: datetime, reason: str = "") -> bool:
    """Delete a campaign with all it measured but its tombstone; one that may still do something is refused.

    True if it is gone; False if it has so many trials that a worker deletes it: until then nobody sees it.
    """
    campaign = lock_campaign(campaign, user)
    if campaign.state not in Campaign.CLOSED_STATES or campaign.has_running_trials():
        raise errors.WrongState(Message(_("The campaign is under way: cancel it, wait until its runs have ended.")))
    fenced = Reservation.objects.filter(run__trial__campaign=campaign, released_at=None, fenced_until__isnull=False)
    if fenced.exists():
        text = _("Something of it may still run on a node that fell silent: wait until that is over.")
        raise errors.WrongState(Message(text))
    for step in _before:
        step(campaign, now)
    count = campaign.trials.count()
    _bury(campaign, user, now, reason.strip(), count)
    if count <= AT_ONCE:
        _delete(campaign)
        return True
    campaign.deleting_at, campaign.delete_trials = now, count
    campaign.save(update_fields=["deleting_at", "delete_trials", "updated_at"])
    queue.send(queue.BULKY)
    return False


def _bury(campaign: Campaign, user: User, now: datetime, reason: str, trials: int) -> None:
    """Keep what the permanent id answers with from now on, for whoever could see the campaign."""
    stone = Tombstone(
        **{name: getattr(campaign, name) for name in ("permanent_id", "visibility", "redacted", "licence", "name")},
        team_id=campaign.team_id,
        foreign_names_id=campaign.foreign_names_id,
        created_by_id=campaign.created_by_id,
        campaign_created_at=campaign.created_at,
        trials=trials,
        deleted_by=user,
        deleted_by_name=user.get_username(),
        deleted_at=now,
        reason=reason,
        brought_in=campaign.brought_in,
        digests=_digests_of(campaign) if trials <= AT_ONCE else {},
    )
    # One that was deleted before, and brought back from its archive, has its latest tombstone only.
    Tombstone.objects.filter(permanent_id=campaign.permanent_id, team=campaign.team_id).delete()
    stone.full_clean()
    stone.save()
    accepted = campaign.shares.filter(state=Share.State.ACCEPTED).values_list("team_id", flat=True)
    stone.shared_with.set(list(accepted))


def _digests_of(campaign: Campaign) -> dict[str, str]:
    return {part: digest for digests_of in _digests for part, digest in digests_of(campaign).items()}


def _digest_first(campaign: Campaign) -> None:
    """Keep the digests of what no request could wait for, before any of it goes."""
    stones = Tombstone.objects.filter(permanent_id=campaign.permanent_id, team=campaign.team_id, digests={})
    is_whole = campaign.trials.count() == campaign.delete_trials
    if is_whole and (campaign.delete_trials or 0) <= MOST_DIGESTED and stones.exists():
        stones.update(digests=_digests_of(campaign))


def continue_deletions() -> bool:
    """Go on with the campaign whose turn it is, for TURN_S at most; True if more may wait."""
    now = timezone.now()
    return turns.take_next(pieces(now), now=now)


def pieces(now: datetime) -> turns.Pieces:
    """Return the campaigns that are to be deleted."""
    return turns.Pieces(_due(now), _ASKED, _take_turn)


def _take_turn(campaign_id: int) -> bool:
    """Delete what there is time for of a campaign; False if somebody else is at it."""
    with leases.hold(CONTINUE_DELETIONS) as is_ours:
        if not is_ours:
            return False
        deadline = time.monotonic() + TURN_S
        while _try_batch(campaign_id) and time.monotonic() <= deadline:
            pass
    return True


def _try_batch(campaign_id: int) -> bool:
    """Delete a batch of a campaign; True if that went well and something of it is left."""
    done = isolation.for_each(CONTINUE_DELETIONS, [campaign_id], _delete_batch, now=timezone.now())
    return done == [True] and Campaign.objects.filter(pk=campaign_id, deleting_at__isnull=False).exists()


def resume_deletions(*, now: datetime) -> None:
    """Ask a worker to go on if none is at it: its message was lost, or it was killed."""
    if _due(now).exists() and not leases.is_held(CONTINUE_DELETIONS):
        queue.remind(queue.BULKY)


def _due(now: datetime) -> QuerySet[Campaign]:
    return Campaign.objects.filter(~isolation.waiting(CONTINUE_DELETIONS, now), deleting_at__isnull=False)


@transaction.atomic
def _delete_batch(campaign_id: int) -> bool:
    """Delete some trials of a campaign, or the rest of it if they are few; False if another worker does it."""
    locked = Campaign.objects.select_for_update(skip_locked=True, of=("self",)).filter(pk=campaign_id)
    campaign = locked.filter(deleting_at__isnull=False).first()
    if campaign is None:
        return False
    _digest_first(campaign)
    some = list(campaign.trials.order_by().values_list("pk", flat=True)[:BATCH])
    if len(some) < BATCH:
        _delete(campaign)
    else:
        _delete(Trial.objects.filter(pk__in=some))
        campaign.save(update_fields=["updated_at"])
    return True


def _delete(what: Campaign | QuerySet[Trial]) -> None:
    """Delete a campaign or some trials with all that stands on them, up to what the jobs of their runs printed."""
    with immutability.letting_go():
        what.delete()
