"""Whom a team may mail: members, addresses of the administrator's domains, and those whose owners confirmed it to it.

Whoever stopped a team's mails, or all, is mailed no more, whoever they are. An address that a person wrote into their
own profile is asked like any other: to have written it proves nothing. The links in mails are signed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core import signing
from django.db import models, transaction
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from apps.accounts.addresses import normal_domain, normal_form
from apps.accounts.models import MailAddress, MailConsent, Team, User
from apps.core import clock

# A team asks an address no more often, and all teams together ask it so many times meanwhile; the link ends then.
ASKED_AGAIN_AFTER = timedelta(days=7)
MOST_ASKED = 3
# Longer than any mail server is waited for: who began to ask and did not end has died.
ASKING_ENDS_AFTER = timedelta(minutes=10)
# Whose number another team has by now.
_NO_TEAM = 0
_CONFIRM, _STOP = "mail.confirm", "mail.stop"


class Consent(models.TextChoices):
    """Why an address is mailed, or why it is not."""

    MEMBER = "member", _("member of the team")
    DOMAIN = "domain", _("in a domain that the administrator allows")
    CONFIRMED = "confirmed", _("confirmed by its owner")
    ASKED = "asked", _("waits for their confirmation")
    UNASKED = "unasked", _("not confirmed: asked with the next mail")
    UNASKABLE = "unaskable", _("not confirmed, and cannot be asked: the administrator has to set PUBLIC_URL")
    STOPPED = "stopped", _("stopped by its owner: not mailed")


_MAILED = (Consent.MEMBER, Consent.DOMAIN, Consent.CONFIRMED)


@dataclass(frozen=True)
class Recipient:
    """An address as a team may mail it; `since` is when it was asked, confirmed or stopped, if that is known.

    `asking_since` is when the team began to ask it, `others_asked` when others did.
    """

    address: str
    standing: Consent
    since: datetime | None = None
    asking_since: datetime | None = None
    others_asked: Sequence[datetime] = ()

    @property
    def is_mailed(self) -> bool:
        """Return whether reports go to it."""
        return self.standing in _MAILED

    def may_be_asked(self, now: datetime) -> bool:
        """Return whether its owner may be asked now."""
        if self.standing not in (Consent.UNASKED, Consent.ASKED):
            return False
        since = self.since if self.standing == Consent.ASKED else None
        others = [at for at in self.others_asked if not is_time(at, now)]
        return is_time(since, now) and _has_ended(self.asking_since, now) and len(others) < MOST_ASKED


@dataclass(frozen=True)
class ConsentLink:
    """What the link in a mail is about; None for the team if it is gone, with its number unless another has that."""

    address: str
    team: Team | None
    number: int


class NotToBeAsked(Exception):
    """The owner of an address is not to be asked now."""


def lasting_name(team: Team) -> str:
    """Return what stands for a team outside the service: after a restore another team may get the number of one."""
    return f"{team.pk} of {team.created_at.isoformat()}"


def is_time(asked_at: datetime | None, now: datetime) -> bool:
    """Return whether one who was asked at a time may be asked again."""
    return asked_at is None or asked_at <= now - ASKED_AGAIN_AFTER or clock.is_ahead(asked_at, now)


def recipients_of(team: Team, addresses: Iterable[str]) -> list[Recipient]:
    """Return how each address stands with a team, in their order."""
    addresses = list(addresses)
    keys = {normal_form(address) for address in addresses}
    rows = {row.address: row for row in MailAddress.objects.filter(address__in=keys).prefetch_related("consents")}
    members = _members(team) if keys else set()
    return [_standing(address, rows.get(normal_form(address)), team, members) for address in addresses]


def claim(user: User, *, before: str) -> None:
    """Note on a person, who is saved after it, that they changed their address themselves from what it was before."""
    if normal_form(user.email) != normal_form(before):
        user.claimed_email = normal_form(user.email)


@transaction.atomic
def begin_asking(address: str, team: Team, now: datetime) -> None:
    """Note that an address is being asked; NotToBeAsked if it is not the time."""
    # Its lock holds other teams off, too, which are counted.
    consent = _consent(_locked(address), team)
    [recipient] = recipients_of(team, [address])
    if not recipient.may_be_asked(now):
        raise NotToBeAsked
    consent.asking_since = now
    consent.save(update_fields=["asking_since", "updated_at"])


def end_asking(address: str, team: Team, asked_at: datetime | None) -> None:
    """Note that an address was asked, or (None) that it was not after all."""
    rows = MailConsent.objects.filter(address__address=normal_form(address), team=team.pk)
    rows.update(asking_since=None, **({"asked_at": asked_at} if asked_at else {}))


@transaction.atomic
def confirm(link: ConsentLink, now: datetime) -> None:
    """Keep that the owner of an address wants a team's mail, also if they had stopped it; no other team's."""
    assert link.team is not None, "a team that is gone mails nobody"
    row = _locked(link.address)
    row.refused_teams = [pk for pk in row.refused_teams if pk != link.team.pk]
    row.save()
    # What was stopped before does not hold for this team, though a clock was set back meanwhile.
    confirmed_at = max(now, row.refused_at + timedelta.resolution) if row.refused_at else now
    consent = _consent(row, link.team)
    consent.confirmed_at = confirmed_at
    consent.save(update_fields=["confirmed_at", "updated_at"])


@transaction.atomic
def stop(link: ConsentLink, now: datetime, *, of_all: bool) -> None:
    """Mail an address no more: for a team, or for all."""
    row = _locked(link.address)
    if of_all or link.team is None:
        confirmed = row.consents.aggregate(latest=models.Max("confirmed_at"))["latest"]
        row.refused_at = max(now, confirmed or now)
        row.refused_by = sorted({*row.refused_by, link.number})
    elif link.number not in row.refused_teams:
        row.refused_teams.append(link.number)
    row.save()


@transaction.atomic
def resume(link: ConsentLink, *, of_all: bool) -> bool:
    """Take back what was stopped by this team's link, for it or for all; return whether no stop is left for it.

    What the link of another team's mail stopped for all stays stopped.
    """
    row = _locked(link.address)
    if of_all or link.team is None:
        row.refused_by = [number for number in row.refused_by if number != link.number]
        row.refused_at = row.refused_at if row.refused_by else None
    else:
        row.refused_teams = [number for number in row.refused_teams if number != link.number]
    row.save()
    return not row.refused_at and link.number not in row.refused_teams


def confirm_address(address: str, team: Team) -> str:
    """Return the link by which an address's owner confirms, "" where the service does not know its own address."""
    return _address("accounts:mail_confirm", address, team, _CONFIRM)


def stop_address(address: str, team: Team) -> str:
    """Return the link by which an address's owner stops a team's mails; "" as above. It never ends."""
    return _address("accounts:mail_stop", address, team, _STOP)


def read_confirm(token: str) -> ConsentLink | None:
    """Return what a link to confirm is about, None if it or its team has ended, or it is none of ours."""
    link = _read(token, _CONFIRM, ASKED_AGAIN_AFTER)
    return link if link and link.team else None


def read_stop(token: str) -> ConsentLink | None:
    """Return what a link to stop is about, None if it is none of ours."""
    return _read(token, _STOP, None)


def _members(team: Team) -> set[str]:
    """Return the addresses of a team's members, but for those that they wrote themselves."""
    users = User.objects.filter(memberships__team=team, is_active=True).exclude(email="")
    rows = [(normal_form(email), claimed) for email, claimed in users.values_list("email", "claimed_email")]
    return {email for email, claimed in rows if email != claimed}


def _standing(address: str, row: MailAddress | None, team: Team, members: set[str]) -> Recipient:
    consents = {item.team: item for item in row.consents.all()} if row else {}
    consent = consents.pop(team.pk, None) or MailConsent(team=team.pk)
    if row and _is_stopped(row, consent):
        return Recipient(address, Consent.STOPPED, row.refused_at)
    if consent.confirmed_at:
        return Recipient(address, Consent.CONFIRMED, consent.confirmed_at)
    if normal_form(address) in members:
        return Recipient(address, Consent.MEMBER)
    if normal_form(address).rpartition("@")[2] in {normal_domain(domain) for domain in settings.MAIL_DOMAINS}:
        return Recipient(address, Consent.DOMAIN)
    if not settings.PUBLIC_URL:
        return Recipient(address, Consent.UNASKABLE)
    others = tuple(at for item in consents.values() for at in (item.asked_at, item.asking_since) if at)
    standing = Consent.ASKED if consent.asked_at else Consent.UNASKED
    return Recipient(address, standing, consent.asked_at, consent.asking_since, others)


def _is_stopped(row: MailAddress, consent: MailConsent) -> bool:
    """Return whether a team's mails are stopped: whoever confirmed to one after a stop of all wants that one."""
    if consent.team in row.refused_teams:
        return True
    return row.refused_at is not None and not (consent.confirmed_at and consent.confirmed_at > row.refused_at)


def _has_ended(asking_since: datetime | None, now: datetime) -> bool:
    return asking_since is None or asking_since <= now - ASKING_ENDS_AFTER or clock.is_ahead(asking_since, now)


def _locked(address: str) -> MailAddress:
    MailAddress.objects.get_or_create(address=normal_form(address))
    return MailAddress.objects.select_for_update().get(address=normal_form(address))


def _consent(row: MailAddress, team: Team) -> MailConsent:
    consent, _is_new = MailConsent.objects.get_or_create(address=row, team=team.pk)
    return consent


def _address(page: str, address: str, team: Team, salt: str) -> str:
    if not settings.PUBLIC_URL:
        return ""
    token = signing.dumps([normal_form(address), team.pk, lasting_name(team)], salt=salt)
    return f"{settings.PUBLIC_URL.rstrip('/')}{reverse(page)}?{urlencode({'token': token})}"


def _read(token: str, salt: str, most: timedelta | None) -> ConsentLink | None:
    try:
        # Mails of earlier versions name the number alone.
        address, number, *names = signing.loads(token, salt=salt, max_age=most)
    except signing.BadSignature:
        return None
    team = Team.objects.filter(pk=number).first()
    if team is not None and names not in ([], [lasting_name(team)]):
        return ConsentLink(address, None, _NO_TEAM)
    return ConsentLink(address, team, number)
