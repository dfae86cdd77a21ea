"""Tags and notes: what people add to a campaign, at any time."""

from collections.abc import Iterable

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils.translation import gettext

from apps.accounts import rights
from apps.accounts.models import Role, User
from apps.bench.text import Message, _
from apps.campaigns import errors
from apps.campaigns.models import Campaign, Note
from apps.campaigns.models.annotations import LONGEST_NOTE, LONGEST_TAG, MOST_TAGS
from apps.campaigns.services.campaigns import lock_campaign


@transaction.atomic
def set_tags(*, campaign: Campaign, user: User, tags: Iterable[str]) -> Campaign:
    """Give a campaign these tags instead of those it has; errors.Refused says what is wrong with them."""
    campaign = lock_campaign(campaign, user)
    clean_tags = _read_tags(tags)
    campaign.tags = clean_tags
    campaign.save(update_fields=["tags", "updated_at"])
    return campaign


@transaction.atomic
def add_note(*, campaign: Campaign, user: User, text: str) -> Note:
    """Add a note to a campaign; errors.Refused if it is empty or too long."""
    campaign = lock_campaign(campaign, user)
    note = Note.objects.create(campaign=campaign, text=_read_note(text), created_by=user)
    _touch(campaign)
    return note


@transaction.atomic
def change_note(*, note: Note, user: User, text: str | None) -> Note:
    """Change what a note says, None for what it is; only who wrote it and the team's managers may."""
    campaign = _hold_of(note, user)
    if text is None:
        return note
    note.text = _read_note(text)
    note.save(update_fields=["text", "updated_at"])
    _touch(campaign)
    return note


@transaction.atomic
def delete_note(*, note: Note, user: User) -> None:
    """Delete a note; only who wrote it and the team's managers may."""
    campaign = _hold_of(note, user)
    note.delete()
    _touch(campaign)


def may_change(note: Note, user: User, role: Role | None) -> bool:
    """Say whether a person of this role in the campaign's team may change a note."""
    return rights.suffices(role, Role.OPERATOR if note.created_by_id == user.pk else Role.MANAGER)


def _touch(campaign: Campaign) -> None:
    """Say that something of the campaign has changed: searches go through its notes."""
    campaign.save(update_fields=["updated_at"])


def _hold_of(note: Note, user: User) -> Campaign:
    """Return the note's campaign, held; PermissionDenied for whom the note is not."""
    campaign = lock_campaign(note.campaign, user)
    if not may_change(note, user, rights.role_in(user, campaign.team)):
        raise PermissionDenied(gettext("Only who wrote a note, or a manager of the team, changes it."))
    return campaign


def _read_tags(tags: Iterable[str]) -> list[str]:
    """Return tags in small letters, each once, with hyphens for blanks."""
    clean_tags = list(
        dict.fromkeys(tag for text in tags if (tag := "-".join(text.replace("\0", "").lower().split())))
    )
    for tag in clean_tags:
        if len(tag) > LONGEST_TAG:
            wrong = Message(_("“%(tag)s” is too long for a tag: %(most)s characters at most."), _about(tag))
            raise errors.Refused({"tags": wrong})
        if "," in tag:
            raise errors.Refused({"tags": Message(_("“%(tag)s”: a tag holds no comma."), {"tag": tag})})
    if len(clean_tags) > MOST_TAGS:
        raise errors.Refused({"tags": Message(_("A campaign has %(most)s tags at most."), {"most": MOST_TAGS})})
    return clean_tags


def _about(tag: str) -> dict[str, object]:
    return {"tag": tag[:LONGEST_TAG] + "…", "most": LONGEST_TAG}


def _read_note(text: str) -> str:
    words = text.replace("\0", "").strip()
    if not words:
        raise errors.Refused({"text": Message(_("A note needs words."))})
    if len(words) > LONGEST_NOTE:
        wrong = Message(_("A note has %(most)s characters at most."), {"most": LONGEST_NOTE})
        raise errors.Refused({"text": wrong})
    return words
