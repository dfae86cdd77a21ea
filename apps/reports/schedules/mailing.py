"""The mail that brings a report: its summary as text, and its files if they are not too large for mail."""

import smtplib
from collections.abc import Sequence

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import translation
from django.utils.translation import gettext as _

from apps.core import messages
from apps.reports.document import Items, Link, Paragraph, Table, Value, joined
from apps.reports.models import Edition, Rendering
from apps.reports.rendering import cells
from apps.reports.schedules.errors import NoServer, NotTaken

# What most mail servers take, before base64 makes it a third larger.
MOST_BYTES = 15 * 2**20
# Of what a mail server answers, so much is kept. From this code on it refuses for good: RFC 5321, 4.2.1.
LONGEST_ANSWER = 200
FOR_GOOD = 500


def send(edition: Edition, files: Sequence[Rendering], address: str, schedule: str) -> None:
    """Send an edition to one address; NotTaken if the server refuses this mail, NoServer if it takes none."""
    with translation.override(edition.language):
        mail = EmailMessage(
            # A title of several lines would be several headers.
            subject=" ".join(f"{edition.title} ({_('Edition %(number)s') % {'number': edition.number}})".split()),
            body=_body(edition, files, schedule),
            to=[address],
            headers={"Auto-Submitted": "auto-generated"},
        )
        for item in attached(files):
            name = f"{edition.permanent_id}.{item.format}"
            mail.attach(name, item.path.read_bytes(), item.kind.content_type)
    try:
        mail.send()
    except smtplib.SMTPRecipientsRefused as error:
        [(code, answer), *_others] = error.recipients.values()
        raise NotTaken(_answered(code, answer), for_good=code >= FOR_GOOD) from error
    except smtplib.SMTPDataError as error:
        raise NotTaken(_answered(error.smtp_code, error.smtp_error), for_good=error.smtp_code >= FOR_GOOD) from error
    except smtplib.SMTPResponseException as error:
        raise NoServer(f"{_server()}{_answered(error.smtp_code, error.smtp_error)}") from error
    except OSError as error:
        raise NoServer(f"{_server()}{error.strerror or error or type(error).__name__}") from error


def attached(files: Sequence[Rendering]) -> list[Rendering]:
    """Return the files that go with the mail: those that are ready, the smallest first, as far as they fit."""
    found: list[Rendering] = []
    total = 0
    for item in sorted(files, key=lambda item: (item.size or 0, item.format)):
        total += item.size or 0
        if item.state == Rendering.State.DONE and total <= MOST_BYTES and item.path.is_file():
            found.append(item)
    return found


def _server() -> str:
    """Return which server it is about, if mails are no files."""
    return f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}: " if settings.EMAIL_HOST else ""


def _answered(code: int, answer: bytes | str) -> str:
    text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
    return f"{code} {' '.join(text.split())}"[:LONGEST_ANSWER]


def _body(edition: Edition, files: Sequence[Rendering], schedule: str) -> str:
    document = edition.document
    lines = [document.title, document.subtitle, ""]
    # Where nothing was measured there is no summary, and the one section says so.
    for block in document.summary or [block for section in document.sections[:1] for block in section.blocks]:
        if isinstance(block, Paragraph):
            lines += [joined(block.parts), ""]
        elif isinstance(block, Items):
            lines += [*(f"- {joined(parts)}" for parts in block.items), ""]
        elif isinstance(block, Table):
            lines += [*(" : ".join(map(str, _row(block, row))) for row in block.rows), ""]
    if settings.PUBLIC_URL:
        lines += [_("Read it here:"), f"{settings.PUBLIC_URL.rstrip('/')}{edition.get_absolute_url()}", ""]
    missing = [item for item in files if item not in attached(files)]
    for item in missing:
        why = messages.render(item.error) or _("it is too large for mail: fetch it from the edition's page")
        lines.append(_("Not attached: %(name)s – %(why)s") % {"name": _(item.kind.label), "why": why})
    lines += [
        "",
        _("Id: %(id)s, checksum (SHA-256): %(checksum)s")
        % {"id": edition.permanent_id, "checksum": edition.checksum},
    ]
    lines.append(
        _("Sent by the schedule “%(name)s” of %(team)s.") % {"name": schedule, "team": edition.report.team.name}
    )
    return "\n".join(lines)


def _row(table: Table, row: Sequence[Value | Link]) -> list[str]:
    return [cells.text_of(value, column) for value, column in zip(row, table.columns, strict=True)]
