"""The one door through which mail leaves: to one address at a time that agreed to it, counted, with a way to stop it.

The names that people chose stand in mails as one line each, so that none becomes a header.
"""

import re
import smtplib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from apps.accounts import consent, mail_quotas
from apps.accounts.mail_quotas import Sender
from apps.core import shutdown

# Of what a mail server answers, so much is kept. From this code on it refuses for good: RFC 5321, 4.2.1.
LONGEST_ANSWER = 200
FOR_GOOD = 500
_LONGEST_SUBJECT = 200
# What joins the parts of an address: dots (also what is read as one, but not in a number), slashes, colons, @.
_ADDRESS_SIGN = re.compile(r"[.。．｡․](?=[^\W\d])|(?<!\d)[.。．｡․](?=\w)|[/\\@／＠]+(?=\S)|[:：](?=[^\s\d])")


class NotTaken(Exception):
    """The mail server refused a mail to one address: for good, or only for now; its text is the server's answer."""

    def __init__(self, answer: str, *, for_good: bool) -> None:
        """Keep what the server said."""
        super().__init__(answer)
        self.for_good = for_good


class NoServer(Exception):
    """No mail can be sent at present, whoever it is for; its text says why."""


@dataclass(frozen=True)
class Mail:
    """A mail to one address: its subject, its text, and files as (name, content, type).

    `occasion` names what it is sent for: a program of mail folds those that were sent again for the same into one.
    """

    occasion: str
    address: str
    subject: str
    body: str
    files: Sequence[tuple[str, bytes, str]] = ()


def post(mail: Mail, *, sender: Sender, now: datetime) -> None:
    """Send a mail to an address that agreed to it; an AssertionError for any other.

    MailsUsedUp if no more may be sent now, NotTaken if the server refuses this mail, NoServer if it takes none.
    """
    [recipient] = consent.recipients_of(sender.team, [mail.address])
    assert recipient.is_mailed, f"{mail.address} has not agreed to mail"
    _send_counted(mail, sender, now)


def ask(mail: Mail, *, sender: Sender, now: datetime) -> bool:
    """Send the mail that asks for an address's consent, and return whether it was time to; raises as `post` does."""
    try:
        consent.begin_asking(mail.address, sender.team, now)
    except consent.NotToBeAsked:
        return False
    asked_at = None
    try:
        # Nobody is asked twice because the worker stops just now.
        with shutdown.put_off():
            _send_counted(mail, sender, now, is_asking=True)
            asked_at = now
    finally:
        consent.end_asking(mail.address, sender.team, asked_at)
    return True


def one_line(text: str) -> str:
    """Return a text that somebody chose as one line without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def harmless(text: str) -> str:
    """Return a name that somebody chose as one line in which no program of mail sees an address of a page."""
    return _ADDRESS_SIGN.sub(r"\g<0> ", one_line(text))


def _send_counted(mail: Mail, sender: Sender, now: datetime, *, is_asking: bool = False) -> None:
    """Send a mail, counted before it goes; what no server took is given back, unless it refuses the address for good.

    Whoever has addresses asked that there are not is held by the count.
    """
    mail_quotas.charge(sender=sender, now=now, is_asking=is_asking)
    try:
        _send(mail, sender)
    except Exception as error:
        if not (isinstance(error, NotTaken) and error.for_good):
            mail_quotas.give_back(sender=sender, now=now, is_asking=is_asking)
        raise


def _send(mail: Mail, sender: Sender) -> None:
    stop = consent.stop_address(mail.address, sender.team)
    headers = {"Auto-Submitted": "auto-generated", "Message-ID": _message_id(mail)}
    body = mail.body
    if stop:
        # RFC 8058: programs of mail stop it with one POST.
        headers |= {"List-Unsubscribe": f"<{stop}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
        body = "\n".join([body, "", _("No more of these mails:"), stop])
    message = EmailMessage(
        subject=one_line(mail.subject)[:_LONGEST_SUBJECT], body=body, to=[mail.address], headers=headers
    )
    for name, content, kind in mail.files:
        message.attach(name, content, kind)
    try:
        message.send()
    except smtplib.SMTPRecipientsRefused as error:
        [(code, answer), *_others] = error.recipients.values()
        raise NotTaken(_answered(code, answer), for_good=code >= FOR_GOOD) from error
    except smtplib.SMTPDataError as error:
        raise NotTaken(_answered(error.smtp_code, error.smtp_error), for_good=error.smtp_code >= FOR_GOOD) from error
    except smtplib.SMTPResponseException as error:
        raise NoServer(f"{_server()}{_answered(error.smtp_code, error.smtp_error)}") from error
    except OSError as error:
        raise NoServer(f"{_server()}{error.strerror or str(error) or type(error).__name__}") from error


def _message_id(mail: Mail) -> str:
    """Return one name for what may be sent again by whoever does not know of it (RFC 5322, 3.6.4)."""
    digest = salted_hmac("fathom.mail", f"{mail.occasion}\n{mail.address}", algorithm="sha256").hexdigest()
    return f"<{digest[:40]}@{urlsplit(settings.PUBLIC_URL).hostname or 'fathom.invalid'}>"


def _server() -> str:
    """Return which server it is about, if mails are no files."""
    return f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}: " if settings.EMAIL_HOST else ""


def _answered(code: int, answer: bytes | str) -> str:
    text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
    return f"{code} {' '.join(text.split())}"[:LONGEST_ANSWER]
