"""Read limits of the environment: RATE_PER_TOKEN=30000/60 is 30,000 requests in 60 s, 0 is no limit."""

import re
from typing import NamedTuple

from apps.config.settings.environment import Environment

_MAILS = re.compile(r"\s*([0-9]{1,9})\s*/\s*hour[\s,]+([0-9]{1,9})\s*/\s*day\s*")
_DOMAIN = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")
_RATE = re.compile(r"\s*([0-9]{1,18})\s*/\s*([0-9]{1,6})\s*")
_SIZE = re.compile(r"\s*([0-9]{1,18})\s*(B|KiB|MiB|GiB|TiB|PiB)?\s*")
_UNITS = {name: 1024**power for power, name in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))}

# A thousand a second from one address, five hundred a second with one token: far above what a person, a script or a
# page of a thousand nodes asks for. Answers are counted in bytes: what a list of long texts costs is its length.
_USUAL = {
    "address": ("RATE_PER_ADDRESS", "60000/60"),
    "token": ("RATE_PER_TOKEN", "30000/60"),
    "answers": ("RATE_OF_ANSWER_BYTES", "4294967296/60"),
    "uploads": ("RATE_OF_UPLOADS", "3000/3600"),
    "facts": ("RATE_OF_FACTS", "100000/3600"),
    # A node tells some ten thousand bytes at a time, and anew what changed: a thousand changes an hour fit in.
    "fact-bytes": ("RATE_OF_FACT_BYTES", "52428800/3600"),
    # Tokens for new agents of one team: each enrols one, and its row stays.
    "enrolments": ("RATE_OF_ENROLMENTS", "20000/3600"),
    # The pages that a mail's links open, of one address: a mail provider sends on what many people ask of it.
    "mail-links": ("RATE_OF_MAIL_LINKS", "300/600"),
}
# Fifty recipients each day of three schedules fit in; "asking" are the mails that ask for an address's consent.
_USUAL_MAILS = {
    "team": ("MAILS_PER_TEAM", "100/hour 200/day"),
    "person": ("MAILS_PER_PERSON", "100/hour 200/day"),
    "service": ("MAILS_OF_SERVICE", "500/hour 2000/day"),
    "asking": ("MAILS_THAT_ASK", "20/hour 50/day"),
}


class Rate(NamedTuple):
    """So many (requests, bytes, uploads, rows) in a window of so many seconds."""

    quota: int
    window_s: int


class MailRate(NamedTuple):
    """So many recipients in an hour, and in a day (UTC)."""

    hour: int
    day: int


def mails_from_environment(environment: Environment) -> dict[str, MailRate]:
    """Return {who is counted: how many mails it may send} without those that are switched off."""
    rates = {who: environment.read(name, usual, _mails_of) for who, (name, usual) in _USUAL_MAILS.items()}
    return {who: rate for who, rate in rates.items() if rate}


def domains_of(text: str) -> tuple[str, ...]:
    """Return the domains between commas; ValueError says what to give."""
    domains = tuple(part.strip().lower() for part in text.split(",") if part.strip())
    if not all(_DOMAIN.fullmatch(domain) for domain in domains):
        raise ValueError("give domains such as example.org, parted by commas")
    return domains


def from_environment(environment: Environment) -> dict[str, Rate]:
    """Return {policy: its rate} without those that are switched off."""
    rates = {policy: environment.read(name, usual, _rate_of) for policy, (name, usual) in _USUAL.items()}
    return {policy: rate for policy, rate in rates.items() if rate}


def _rate_of(text: str) -> Rate | None:
    if text == "0":
        return None
    rate = _RATE.fullmatch(text)
    if not rate or not int(rate[1]) or not int(rate[2]):
        raise ValueError("give so many / seconds, such as 30000/60, or 0 for no limit")
    return Rate(int(rate[1]), int(rate[2]))


def _mails_of(text: str) -> MailRate | None:
    if text == "0":
        return None
    rate = _MAILS.fullmatch(text)
    if not rate or not int(rate[1]) or not int(rate[2]):
        raise ValueError("give so many an hour and a day, such as 100/hour 200/day, or 0 for no limit")
    return MailRate(int(rate[1]), int(rate[2]))


def bytes_of(text: str) -> int:
    """Return a size in bytes, 0 for no limit; ValueError says what to give."""
    size = _SIZE.fullmatch(text)
    if not size:
        raise ValueError("give a size such as 500 GiB, or 0 for no limit")
    return int(size[1]) * _UNITS[size[2] or "B"]
