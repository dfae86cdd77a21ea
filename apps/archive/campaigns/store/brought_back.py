"""What comes back of a campaign that was deleted here is held against what its tombstone keeps of it.

Only what agrees comes back under the permanent id, which is cited; all else has an id of its own. What an archive
says people wrote and did is theirs only where that agrees, too.
"""

from dataclasses import dataclass
from datetime import datetime

from apps.accounts.models import Team, User
from apps.bench.text import Message, _
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Tombstone
from apps.results.digests import MEASURED, WORDS, digests_of
from apps.results.record_digests import OUTPUT, SERIES

# As what was deleted, and then, if it is not that, with nobody's word or under an id of its own.
MOST_ATTEMPTS = 2


@dataclass(frozen=True)
class ArchiveStanding:
    """As what an archive is stored: under the id that it says, with the words of the people that it names.

    `refusal` says why it has an id of its own, where it has.
    """

    is_their_word: bool = True
    refusal: Message | None = None

    @property
    def has_same_id(self) -> bool:
        """Return whether it is stored under the permanent id that it says."""
        return self.refusal is None


class DiffersError(Exception):
    """What was stored is not what was deleted: it is to be stored as something else."""

    def __init__(self, standing: ArchiveStanding) -> None:
        super().__init__()
        self.standing = standing


def stone_of(permanent_id: str, team: Team) -> Tombstone | None:
    """Return what is left of the team's campaign of a permanent id."""
    return Tombstone.objects.filter(permanent_id=permanent_id, team=team).first()


def visibility_beside(stone: Tombstone) -> str:
    """Return who sees what differs from what was deleted: nobody saw it before, whoever brings it shows it."""
    is_private = stone.visibility == Campaign.Visibility.PRIVATE
    return Campaign.Visibility.PRIVATE if is_private else Campaign.Visibility.TEAM


def check(campaign: Campaign, standing: ArchiveStanding, *, user: User, now: datetime) -> None:
    """Say of a campaign that an archive brought what it is, on its page and in its log; DiffersError if it is not."""
    stone = stone_of(campaign.permanent_id, campaign.team) if standing.has_same_id else None
    when = f"{now:%Y-%m-%d %H:%M} UTC"
    who = {"user": user.get_username(), "when": when}
    lines = []
    if stone is None:
        page = _of_strangers(standing, when)
        if standing.refusal is not None:
            lines = [Message(_("Brought in by %(user)s from an archive."), who), standing.refusal]
    else:
        _compare(campaign, stone, standing)
        text = _(
            "Deleted on %(deleted)s and brought back on %(when)s from an archive: the figures are those deleted."
        )
        page = Message(text, {"deleted": f"{stone.deleted_at:%Y-%m-%d %H:%M} UTC", "when": when})
        text = _("Deleted by %(deleter)s, brought back by %(user)s from an archive: the figures are those deleted.")
        lines = [Message(text, who | {"deleter": stone.deleted_by_name or "–"})]
    if not standing.is_their_word:
        lines.append(
            Message(_("What it says people wrote and did is according to the archive, and may be another's."))
        )
    for item in lines:
        campaigns.write_event(campaign_id=campaign.pk, message=item)
    campaign.brought_in = {"message": page.as_json(), "agrees": stone is not None}
    Campaign.objects.filter(pk=campaign.pk).update(brought_in=campaign.brought_in)


def _compare(campaign: Campaign, stone: Tombstone, standing: ArchiveStanding) -> None:
    digests = digests_of(campaign)
    if not stone.digests:
        text = _("Nothing tells any more what was deleted here under %(id)s: this has an id of its own.")
        raise DiffersError(ArchiveStanding(False, Message(text, {"id": stone.permanent_id})))
    # Those of before may keep no digest of what lies below the figures.
    for part in (part for part in MEASURED if part in stone.digests):
        if digests[part] != stone.digests[part]:
            raise DiffersError(ArchiveStanding(False, Message(_DIFFERING[part], {"id": stone.permanent_id})))
    if standing.is_their_word and digests[WORDS] != stone.digests.get(WORDS):
        raise DiffersError(ArchiveStanding(is_their_word=False))


_DIFFERING = {
    "experiments": _(
        "It differs from what was deleted here under %(id)s in its experiments: it has an id of its own."
    ),
    "trials": _("It differs from what was deleted here under %(id)s in trials or marks: it has an id of its own."),
    "results": _("It differs from what was deleted here under %(id)s in results: it has an id of its own."),
    SERIES: _("It differs from what was deleted here under %(id)s in time series: it has an id of its own."),
    OUTPUT: _(
        "It differs from what was deleted here under %(id)s in what commands printed: it has an id of its own."
    ),
}


def _of_strangers(standing: ArchiveStanding, when: str) -> Message:
    if standing.refusal is not None:
        text = _(
            "Brought in on %(when)s from an archive of %(id)s that differs from what was deleted here: what it says "
            "was measured, and by whom, is its word."
        )
        return Message(text, {"when": when, **standing.refusal.params})
    text = _("Brought in on %(when)s from an archive: what it says was measured, and by whom, is its word.")
    return Message(text, {"when": when})
