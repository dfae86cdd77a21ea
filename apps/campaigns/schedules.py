"""Dates of campaigns that start by themselves: cron expressions in a time zone."""

import itertools
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from apps.bench.text import Message, _
from apps.campaigns import errors
from apps.core import moments

# Minute, hour, day, month, day of the week: a sixth (seconds) would start campaigns faster than they can end.
FIELDS = 5
# The largest value of each.
_MOST = {"minute": 59, "hour": 23, "day-of-month": 31, "month": 12, "day-of-week": 7}


# Dates are chosen to the minute.
_JUST_NOW = timedelta(minutes=1)


def check_start(*, start_at: datetime | None, now: datetime) -> None:
    """Raise errors.Refused that names `start_at` if that date has passed, or is further away than anybody plans."""
    if start_at and start_at < now - _JUST_NOW:
        text = _("This date has passed: choose a later one, or leave it empty to start at the launch.")
        raise errors.Refused({"start_at": Message(text)})
    if start_at and not moments.is_reasonable(start_at):
        text = _("This date is too far ahead: choose one before the year 2200.")
        raise errors.Refused({"start_at": Message(text)})


def check_schedule(*, cron: str, timezone: str, now: datetime) -> None:
    """Raise errors.Refused that names `cron` or `cron_timezone` if they give no dates."""
    wrong: dict[str, Message] = {}
    if timezone not in moments.zones():
        text = _("“%(zone)s” is no time zone; use a name such as Asia/Seoul or UTC.")
        wrong["cron_timezone"] = Message(text, {"zone": timezone})
    if refusal := _refusal_of(cron, "UTC" if wrong else timezone, now):
        wrong["cron"] = refusal
    if wrong:
        raise errors.Refused(wrong)


def _refusal_of(cron: str, timezone: str, now: datetime) -> Message | None:
    """Return why an expression gives no dates, None if it gives some."""
    if len(cron.split()) != FIELDS:
        text = _(
            "“%(cron)s” is no cron expression; write five fields: minute, hour, day, month and day of the week, "
            "for example 30 2 * * 1 for Mondays at 02:30."
        )
        return Message(text, {"cron": cron})
    try:
        _check_steps(cron)
        next_date(cron=cron, timezone=timezone, after=now)
    except CronSimError as error:
        text = _("“%(cron)s” is no cron expression (%(why)s); mend that field, * stands for every value.")
        return Message(text, {"cron": cron, "why": str(error)})
    return None


def _check_steps(cron: str) -> None:
    """Raise CronSimError for a step beyond all values of its field: it would leave the first of them only."""
    for part, (name, most) in zip(cron.split(), _MOST.items(), strict=True):
        steps = [item.partition("/")[2] for item in part.split(",") if "/" in item]
        if any(step.isdecimal() and int(step) > most for step in steps):
            raise CronSimError(f"Bad {name}")


def next_dates(*, cron: str, timezone: str, after: datetime, count: int = 5) -> list[datetime]:
    """Return the next `count` dates strictly later than `after`, in UTC; the expression is in `timezone`.

    Around the changes of summer time an hour that does not exist is taken at once and one that comes twice fires
    once, as in Debian's cron.
    """
    dates = CronSim(cron, after.astimezone(ZoneInfo(timezone)))
    return [moment.astimezone(UTC) for moment in itertools.islice(dates, count)]


def next_date(*, cron: str, timezone: str, after: datetime) -> datetime:
    """Return the next date strictly later than `after` in UTC."""
    return next_dates(cron=cron, timezone=timezone, after=after, count=1)[0]
