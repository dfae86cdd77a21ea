"""Who may be mailed: members, addresses of the administrator's domains, and those whose owners confirmed it.

Whoever stopped a team's mails, or all, is mailed no more, whoever they are. An address that a person wrote into their
own profile is asked like any other: to have written it proves nothing. The links in mails are signed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core import signing
from django.db import models, transaction
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import MailAddress, Team, User
from apps.core import clock

# One address is asked no more often, whoever would have it mailed; the link in what asks it ends with that time.
ASKED_AGAIN_AFTER = timedelta(days=7)
_CONFIRM, _STOP = "mail.confirm", "mail.stop"


class Standing(models.TextChoices):
    """Why an address is mailed, or why it is not."""

    MEMBER = "member", _("member of the team")
    DOMAIN = "domain", _("in a domain that the administrator allows")
    CONFIRMED = "confirmed", _("confirmed by its owner")
    ASKED = "asked", _("waits for their confirmation")
    UNASKED = "unasked", _("not confirmed: asked with the next mail")
    UNASKABLE = "unaskable", _("not confirmed, and cannot be asked: the administrator has to set PUBLIC_URL")
    STOPPED = "stopped", _("stopped by its owner: not mailed")


_MAILED = (Standing.MEMBER, Standing.DOMAIN, Standing.CONFIRMED)


@dataclass(frozen=True)
class Recipient:
    """An address as a team may mail it; `since` is when it was asked, confirmed or stopped, if that is known."""

    address: str
    standing: Standing
    since: datetime | None = None

    @property
    def is_mailed(self) -> bool:
        """Return whether reports go to it."""
        return self.standing in _MAILED

    def may_be_asked(self, now: datetime) -> bool:
        """Return whether its owner may be asked now."""
        return self.standing == Standing.UNASKED or (self.standing == Standing.ASKED and is_time(self.since, now))


@dataclass(frozen=True)
class Link:
    """What the link in a mail is about; None for the team if it is gone."""

    address: str
    team: Team | None


class NotToBeAsked(Exception):
    """The owner of an address is not to be asked now."""


def is_time(asked_at: datetime | None, now: datetime) -> bool:
    """Return whether one who was asked at a time may be asked again."""
    return asked_at is None or asked_at <= now - ASKED_AGAIN_AFTER or clock.is_ahead(asked_at, now)


def recipients_of(team: Team, addresses: Iterable[str]) -> list[Recipient]:
    """Return how each address stands with a team, in their order."""
    given = list(addresses)
    keys = {_key(address) for address in given}
    rows = {row.address: row for row in MailAddress.objects.filter(address__in=keys)}
    users = User.objects.filter(memberships__team=team, is_active=True).exclude(email="")
    members = {_key(email) for email in users.values_list("email", flat=True)} if keys else set()
    return [_standing(address, rows.get(_key(address)), team, members) for address in given]


def note_claim(user: User) -> None:
    """Note that a person wrote their address into their profile: its owner is asked before it is mailed."""
    if user.email:
        MailAddress.objects.update_or_create(address=_key(user.email), defaults={"is_claimed": True})


@transaction.atomic
def begin_asking(address: str, team: Team, now: datetime) -> datetime | None:
    """Note that an address is asked now, and return when it was before; NotToBeAsked if it is not the time."""
    MailAddress.objects.get_or_create(address=_key(address))
    row = MailAddress.objects.select_for_update().get(address=_key(address))
    [recipient] = recipients_of(team, [address])
    if not recipient.may_be_asked(now):
        raise NotToBeAsked
    before, row.asked_at = row.asked_at, now
    row.save(update_fields=["asked_at", "updated_at"])
    return before


def undo_asking(address: str, before: datetime | None) -> None:
    """Note that an address was not asked after all."""
    MailAddress.objects.filter(address=_key(address)).update(asked_at=before)


@transaction.atomic
def confirm(link: Link, now: datetime) -> None:
    """Keep that the owner of an address wants mail, also of a team whose mails they had stopped."""
    resume(link)
    MailAddress.objects.filter(address=link.address).update(confirmed_at=now)


@transaction.atomic
def stop(link: Link, now: datetime, *, of_all: bool) -> None:
    """Mail an address no more: for a team, or for all."""
    row = _locked(link.address)
    if of_all or link.team is None:
        row.refused_at = row.refused_at or now
    elif link.team.pk not in row.refused_teams:
        row.refused_teams.append(link.team.pk)
    row.save()


@transaction.atomic
def resume(link: Link) -> None:
    """Take back what was stopped by a link: for all teams, and for its own."""
    row = _locked(link.address)
    row.refused_at = None
    row.refused_teams = [pk for pk in row.refused_teams if link.team is None or pk != link.team.pk]
    row.save()


def confirm_address(address: str, team: Team) -> str:
    """Return the link by which an address's owner confirms, "" where the service does not know its own address."""
    return _address("accounts:mail_confirm", address, team, _CONFIRM)


def stop_address(address: str, team: Team) -> str:
    """Return the link by which an address's owner stops a team's mails; "" as above. It never ends."""
    return _address("accounts:mail_stop", address, team, _STOP)


def read_confirm(token: str) -> Link | None:
    """Return what a link to confirm is about, None if it has ended or is none of ours."""
    return _read(token, _CONFIRM, ASKED_AGAIN_AFTER)


def read_stop(token: str) -> Link | None:
    """Return what a link to stop is about, None if it is none of ours."""
    return _read(token, _STOP, None)


def _standing(address: str, row: MailAddress | None, team: Team, members: set[str]) -> Recipient:
    if row and (row.refused_at or team.pk in row.refused_teams):
        return Recipient(address, Standing.STOPPED, row.refused_at)
    if row and row.confirmed_at:
        return Recipient(address, Standing.CONFIRMED, row.confirmed_at)
    if _key(address) in members and not (row and row.is_claimed):
        return Recipient(address, Standing.MEMBER)
    if _key(address).rpartition("@")[2] in settings.MAIL_DOMAINS:
        return Recipient(address, Standing.DOMAIN)
    if not settings.PUBLIC_URL:
        return Recipient(address, Standing.UNASKABLE)
    if row and row.asked_at:
        return Recipient(address, Standing.ASKED, row.asked_at)
    return Recipient(address, Standing.UNASKED)


def _locked(address: str) -> MailAddress:
    MailAddress.objects.get_or_create(address=_key(address))
    return MailAddress.objects.select_for_update().get(address=_key(address))


def _key(address: str) -> str:
    return address.strip().lower()


def _address(page: str, address: str, team: Team, salt: str) -> str:
    if not settings.PUBLIC_URL:
        return ""
    token = signing.dumps([_key(address), team.pk], salt=salt)
    return f"{settings.PUBLIC_URL.rstrip('/')}{reverse(page)}?{urlencode({'token': token})}"


def _read(token: str, salt: str, most: timedelta | None) -> Link | None:
    try:
        address, team_id = signing.loads(token, salt=salt, max_age=most)
    except signing.BadSignature:
        return None
    return Link(address, Team.objects.filter(pk=team_id).first())
