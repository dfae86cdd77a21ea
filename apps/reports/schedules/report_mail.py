"""The mail that brings a report: its summary as text, and its files if they are not too large for mail."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from apps.accounts import addresses, consent, post, rights
from apps.accounts.mail_quotas import MailsUsedUp, Sender
from apps.accounts.models import Role
from apps.accounts.post import Mail, NoServer, NotTaken, harmless
from apps.core import messages, shutdown
from apps.reports.document import Items, Paragraph, Table, TextLink, Value, joined
from apps.reports.files import cells
from apps.reports.models import Delivery, Edition, Rendering, Schedule

logger = logging.getLogger(__name__)

# What most mail servers take, before base64 makes it a third larger.
MOST_BYTES = 15 * 2**20
# Of the names that people chose, the mail that asks for consent holds so much.
_LONGEST_NAME = 60


@dataclass
class Outcome:
    """Whom a mail did not reach: refused for good, put off (both with the server's answers), not agreed, used up."""

    refused: list[str] = field(default_factory=list)
    put_off: list[str] = field(default_factory=list)
    not_agreed: list[str] = field(default_factory=list)
    used_up: MailsUsedUp | None = None


def mail_all(delivery: Delivery, edition: Edition, files: Sequence[Rendering], now: datetime) -> Outcome:
    """Mail each recipient once who agreed, and ask the others; stops where no mail can, or may, be sent."""
    schedule, outcome = delivery.schedule, Outcome()
    recipients = addresses.each_once(schedule.recipients, without=delivery.mailed)
    for recipient in consent.recipients_of(schedule.team, recipients):
        try:
            if recipient.is_mailed:
                # Nobody is mailed twice because the worker stops just now.
                with shutdown.put_off():
                    send(edition, files, recipient.address, delivery, now)
                    delivery.mailed.append(recipient.address)
                    delivery.save(update_fields=["mailed"])
            else:
                outcome.not_agreed.append(recipient.address)
                ask(recipient.address, schedule, now)
        except NotTaken as error:
            (outcome.refused if error.for_good else outcome.put_off).append(f"{recipient.address} ({error})")
        except NoServer as error:
            # It would be the same for all others.
            outcome.put_off.append(str(error))
            return outcome
        except MailsUsedUp as error:
            if recipient.is_mailed:
                outcome.used_up = error
                return outcome
    return outcome


def send(edition: Edition, files: Sequence[Rendering], address: str, delivery: Delivery, now: datetime) -> None:
    """Send an edition to one address that agreed; raises as `posting.post` does."""
    with translation.override(edition.language):
        number = _("Edition %(number)s") % {"number": edition.number}
        mail = Mail(
            # No number: those begin anew after a restore, and another report would be taken for one that was mailed.
            occasion=f"edition {edition.permanent_id}",
            address=address,
            subject=f"{edition.title} ({number})",
            body=_body(edition, files, delivery.schedule),
            files=[
                (f"{edition.permanent_id}.{item.format}", item.path.read_bytes(), item.kind.content_type)
                for item in attached(files)
            ],
        )
        post.post(mail, sender=sender_of(delivery.schedule), now=now)


def ask_recipients(*, schedule_id: int, now: datetime) -> None:
    """Ask the recipients of a schedule who have not agreed; who is not reached is asked at the next delivery."""
    schedule = Schedule.objects.select_related("team", "saved_by").filter(pk=schedule_id).first()
    # Whoever may not deliver it any more asks nobody either.
    if schedule is None or not may_act(schedule):
        return
    for recipient in consent.recipients_of(schedule.team, schedule.recipients):
        try:
            if not recipient.is_mailed:
                ask(recipient.address, schedule, now)
        except NotTaken as error:
            logger.info("%s is not asked for schedule %s: %s", recipient.address, schedule_id, error)
        except (NoServer, MailsUsedUp) as error:
            logger.warning("Nobody can be asked for schedule %s now: %s", schedule_id, error)
            return


def ask(address: str, schedule: Schedule, now: datetime) -> bool:
    """Ask an address whether it wants what a schedule mails; False if it is not time to, raises as `post` does."""
    sender = sender_of(schedule)
    with translation.override(schedule.language):
        who = sender.person.get_username() if sender.person else "–"
        names = {"who": who, "team": schedule.team.name, "name": schedule.name, "service": settings.PUBLIC_URL}
        shortened = ("who", "team", "name")
        names |= {name: harmless(names[name])[:_LONGEST_NAME] for name in shortened}
        lines = [
            _("%(who)s of the team “%(team)s” would like to mail you the reports “%(name)s” of measurements,")
            % names,
            _("at dates that they chose, from Fathom at %(service)s.") % names,
            _("Your confirmation holds for this team alone."),
            "",
            _("If you want them, confirm it here within seven days:"),
            consent.confirm_address(address, schedule.team),
            "",
            _("If not, there is nothing to do: without your confirmation nothing else is mailed to you."),
        ]
        subject = _("Fathom: do you want reports of the team “%(team)s”?") % names
        occasion = f"consent to {consent.lasting_name(schedule.team)}, {now.date()}"
        return post.ask(Mail(occasion, address, subject, "\n".join(lines)), sender=sender, now=now)


def may_act(schedule: Schedule) -> bool:
    """Return whether the person for whom a schedule acts is still there, and may write for its team."""
    user = schedule.saved_by
    return user is not None and user.is_active and rights.can(user, schedule.team, Role.OPERATOR)


def sender_of(schedule: Schedule) -> Sender:
    """Return on whose account a schedule's mails are sent."""
    return Sender(schedule.team, schedule.saved_by)


def attached(files: Sequence[Rendering]) -> list[Rendering]:
    """Return the files that go with the mail: those that are ready, the smallest first, as far as they fit."""
    attachments: list[Rendering] = []
    total = 0
    for item in sorted(files, key=lambda item: (item.size or 0, item.format)):
        total += item.size or 0
        if item.state == Rendering.State.DONE and total <= MOST_BYTES and not item.is_gone:
            attachments.append(item)
    return attachments


def _body(edition: Edition, files: Sequence[Rendering], schedule: Schedule) -> str:
    document = edition.document
    lines = [document.title, document.subtitle, ""]
    # Where nothing was measured there is no summary, and the one section says so.
    for block in document.summary or [block for section in document.sections[:1] for block in section.blocks]:
        if isinstance(block, Paragraph):
            lines += [joined(cells.parts_of(block)), ""]
        elif isinstance(block, Items):
            lines += [*(f"- {joined(parts)}" for parts in block.items), ""]
        elif isinstance(block, Table):
            lines += [*(" : ".join(map(str, _row(block, row))) for row in block.rows), ""]
    if settings.PUBLIC_URL:
        lines += [_("Read it here:"), f"{settings.PUBLIC_URL.rstrip('/')}{edition.get_absolute_url()}", ""]
    missing = [item for item in files if item not in attached(files)]
    for item in missing:
        why = messages.render(item.error) or _("it is too large for mail: fetch it from the edition's page")
        if item.is_gone:
            why = _("it is gone from the service's disk: the edition's page makes it anew")
        lines.append(_("Not attached: %(name)s – %(why)s") % {"name": _(item.kind.label), "why": why})
    lines += [
        "",
        _("Id: %(id)s, checksum (SHA-256): %(checksum)s")
        % {"id": edition.permanent_id, "checksum": edition.checksum},
    ]
    lines.append(
        _("Sent by the schedule “%(name)s” of %(team)s.")
        % {"name": harmless(schedule.name), "team": harmless(schedule.team.name)}
    )
    return "\n".join(lines)


def _row(table: Table, row: Sequence[Value | TextLink]) -> list[str]:
    return [cells.text_of(value, column) for value, column in zip(row, table.columns, strict=True)]
