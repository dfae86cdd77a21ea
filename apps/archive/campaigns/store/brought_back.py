"""What comes back of a campaign that was deleted here is held against what its tombstone keeps of it.

Only what agrees comes back under the permanent id, which is cited; all else has an id of its own, and so has what was
never here. What an archive says people wrote and did is theirs only where that agrees, too.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from apps.accounts.models import Team, User
from apps.bench.text import Message, _
from apps.campaigns import services as campaigns
from apps.campaigns.models import Campaign, Tombstone
from apps.campaigns.queries.visibility import visible
from apps.results.digests import MEASURED, WORDS, digests_of
from apps.results.record_digests import OUTPUT, SERIES
from apps.tuning.digests import CONCLUSIONS, conclusions_digest

# As what was deleted, and then, if it is not that, with nobody's word or under an id of its own.
MOST_ATTEMPTS = 2


@dataclass(frozen=True)
class ArchiveStanding:
    """As what an archive is stored: under the id that it says, with the words of the people that it names.

    `is_their_word` is of notes, marks and the maker, `is_their_conclusion` of decisions and verifications; `refusal`
    says why it has an id of its own, where a reader is told.
    """

    is_their_word: bool = False
    is_their_conclusion: bool = False
    has_same_id: bool = False
    refusal: Message | None = None


def first_standing(permanent_id: str, team: Team, *, keeps_id: bool) -> ArchiveStanding:
    """Return as what an archive is tried first: as what was deleted here, else as the word of who brings it in.

    `keeps_id` gives it the cited id all the same, and nobody's word with it.
    """
    stone = stone_of(permanent_id, team)
    if stone is None:
        return ArchiveStanding(has_same_id=keeps_id)
    # What only an archive told of before it was deleted here is nobody's word when it comes back.
    is_theirs = stone.brought_in.get("agrees") is not False
    return ArchiveStanding(is_their_word=is_theirs, is_their_conclusion=is_theirs, has_same_id=True)


class DiffersError(Exception):
    """What was stored is not what was deleted: it is to be stored as something else."""

    def __init__(self, standing: ArchiveStanding) -> None:
        super().__init__()
        self.standing = standing


def stone_of(permanent_id: str, team: Team) -> Tombstone | None:
    """Return what is left of the team's campaign of a permanent id."""
    return Tombstone.objects.filter(permanent_id=permanent_id, team=team).first()


def is_back(campaign: Campaign, standing: ArchiveStanding) -> bool:
    """Return whether a campaign is stored as one that was deleted here."""
    return standing.has_same_id and stone_of(campaign.permanent_id, campaign.team) is not None


def visibility_beside(stone: Tombstone) -> str:
    """Return who sees what differs from what was deleted: nobody saw it before, whoever brings it shows it."""
    is_private = stone.visibility == Campaign.Visibility.PRIVATE
    return Campaign.Visibility.PRIVATE if is_private else Campaign.Visibility.TEAM


def check(campaign: Campaign, standing: ArchiveStanding, arrival: dict[str, str], user: User) -> None:
    """Say of a campaign that an archive brought what it is, on its page and in its log; DiffersError if it is not.

    `arrival` is as `apps.campaigns.brought_in.write` returns it.
    """
    stone = stone_of(campaign.permanent_id, campaign.team) if standing.has_same_id else None
    when = f"{datetime.fromisoformat(arrival['at']):%Y-%m-%d %H:%M} UTC"
    who = {"user": user.get_username(), "when": when}
    if stone is None:
        page = _of_strangers(standing, when)
        lines = [Message(_("Brought in by %(user)s from an archive."), who)]
        lines += [standing.refusal] if standing.refusal is not None else []
    else:
        _compare(campaign, stone, standing, user)
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
    column = {**arrival, "message": page.as_json(), "agrees": stone is not None}
    if stone is not None and stone.brought_in.get("agrees") is False:
        # It was deleted and came back: it is no less the word of who brought it in first.
        column = stone.brought_in
    campaign.brought_in = column
    Campaign.objects.filter(pk=campaign.pk).update(brought_in=column)


def _compare(campaign: Campaign, stone: Tombstone, standing: ArchiveStanding, user: User) -> None:
    digests = digests_of(campaign) | conclusions_digest(campaign)
    # Whoever does not see what was deleted is told no more of it than of what was never here.
    is_seen = visible(Tombstone.objects.filter(pk=stone.pk), user).exists()
    if not stone.digests:
        text = _("Nothing tells any more what was deleted here under %(id)s: this has an id of its own.")
        raise DiffersError(_own_id(text, stone, is_seen))
    # Those of before may keep no digest of what lies below the figures.
    for part in (part for part in MEASURED if part in stone.digests):
        if digests[part] != stone.digests[part]:
            raise DiffersError(_own_id(_DIFFERING[part], stone, is_seen))
    agreeing = {part for part in (WORDS, CONCLUSIONS) if digests[part] == stone.digests.get(part)}
    true = replace(
        standing,
        is_their_word=standing.is_their_word and WORDS in agreeing,
        is_their_conclusion=standing.is_their_conclusion and CONCLUSIONS in agreeing,
    )
    if true != standing:
        raise DiffersError(true)


def _own_id(text: str, stone: Tombstone, is_seen: bool) -> ArchiveStanding:
    return ArchiveStanding(refusal=Message(text, {"id": stone.permanent_id}) if is_seen else None)


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
