"""How much mail may be sent: recipients by the hour and by the day (UTC), for a team, a person and the service.

The counts stand in a table of their own: no deletion of a schedule, a delivery or a membership makes room.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, Sum

from apps.accounts.models import MailUsage, Team, User
from apps.bench.text import Message, _
from apps.core.limits.policies import LimitExceededError

# A count is asked for no longer than a day.
_KEPT = timedelta(days=2)
_TEXTS = {
    ("team", "hour"): _("%(team)s has sent its %(most)s mails of this hour"),
    ("team", "day"): _("%(team)s has sent its %(most)s mails of today"),
    ("person", "hour"): _("%(person)s has sent their %(most)s mails of this hour"),
    ("person", "day"): _("%(person)s has sent their %(most)s mails of today"),
    ("service", "hour"): _("this service has sent its %(most)s mails of this hour"),
    ("service", "day"): _("this service has sent its %(most)s mails of today"),
    ("asking", "hour"): _("%(person)s has asked %(most)s addresses this hour whether they want mail"),
    ("asking", "day"): _("%(person)s has asked %(most)s addresses today whether they want mail"),
}


@dataclass(frozen=True)
class Sender:
    """On whose account a mail is sent: a team's, and a person's if they are still there."""

    team: Team
    person: User | None


class MailsUsedUp(Exception):
    """No more mail may be sent until `until`; `message` says whose mails are used up."""

    def __init__(self, message: Message, until: datetime) -> None:
        super().__init__(str(message))
        self.message, self.until = message, until

    def as_limit(self, now: datetime) -> LimitExceededError:
        """Return the refusal (429) of a request."""
        text = _("No mail can be sent now, %(why)s: try again in %(seconds)s s.")
        wait_s = max(1, math.ceil((self.until - now).total_seconds()))
        return LimitExceededError(Message(text, {"why": self.message.as_json()}), wait_s)


@transaction.atomic
def charge(*, sender: Sender, now: datetime, is_asking: bool = False) -> None:
    """Count a mail to one recipient before it is sent; MailsUsedUp, and nothing counted, if it may not be sent."""
    accounts = _accounts(sender, is_asking=is_asking)
    hour = _hour_of(now)
    names = sorted(accounts.values())
    MailUsage.objects.bulk_create([MailUsage(account=name, hour=hour) for name in names], ignore_conflicts=True)
    rows = MailUsage.objects.filter(account__in=names, hour=hour)
    # Two workers must not both see the last mail that is left.
    list(rows.select_for_update().order_by("account"))
    _refuse_used_up(sender, accounts, now)
    rows.update(recipients=F("recipients") + 1)
    MailUsage.objects.filter(hour__lt=hour - _KEPT).delete()


def give_back(*, sender: Sender, now: datetime, is_asking: bool = False) -> None:
    """Count a mail no more that was charged at `now` (the same time) and was not taken."""
    accounts = _accounts(sender, is_asking=is_asking)
    rows = MailUsage.objects.filter(account__in=accounts.values(), hour=_hour_of(now), recipients__gt=0)
    rows.update(recipients=F("recipients") - 1)


def require_left(*, sender: Sender, now: datetime) -> None:
    """Raise MailsUsedUp if not one more mail may be sent now."""
    _refuse_used_up(sender, _accounts(sender, is_asking=False), now)


def _refuse_used_up(sender: Sender, accounts: Mapping[str, str], now: datetime) -> None:
    hour = _hour_of(now)
    day = hour.replace(hour=0)
    this_hour = Sum("recipients", filter=Q(hour=hour), default=0)
    rows = MailUsage.objects.filter(account__in=accounts.values(), hour__gte=day, hour__lte=hour)
    counts = {row["account"]: row for row in rows.values("account").annotate(hour_=this_hour, day_=Sum("recipients"))}
    for kind, account in accounts.items():
        rate, count = settings.MAIL_LIMITS.get(kind), counts.get(account)
        if rate is None or count is None:
            continue
        if count["day_"] >= rate.day:
            raise _used_up(sender, kind, "day", rate.day, day + timedelta(days=1))
        if count["hour_"] >= rate.hour:
            raise _used_up(sender, kind, "hour", rate.hour, hour + timedelta(hours=1))


def _used_up(sender: Sender, kind: str, window: str, most: int, until: datetime) -> MailsUsedUp:
    person = sender.person.get_username() if sender.person else sender.team.name
    params = {"team": sender.team.name, "person": person, "most": most}
    return MailsUsedUp(Message(_TEXTS[kind, window], params), until)


def _accounts(sender: Sender, *, is_asking: bool) -> dict[str, str]:
    accounts = {"team": f"team:{sender.team.pk}", "service": "service"}
    if sender.person:
        accounts["person"] = f"person:{sender.person.pk}"
    if is_asking:
        accounts["asking"] = f"asking:{sender.person.pk}" if sender.person else f"asking:team:{sender.team.pk}"
    return accounts


def _hour_of(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
