"""What a management report is over: a period, which may move with the calendar, and sites."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext, gettext_lazy

from apps.bench.text import Message, _
from apps.core import moments

# Whole months that end with the last one that is over, except the first two.
DATES, THIS_MONTH, LAST_MONTH, LAST_3, LAST_12 = "dates", "this-month", "month", "3-months", "12-months"
PERIODS = (
    (LAST_MONTH, gettext_lazy("the last month")),
    (LAST_3, gettext_lazy("the last three months")),
    (LAST_12, gettext_lazy("the last twelve months")),
    (THIS_MONTH, gettext_lazy("this month until now")),
    (DATES, gettext_lazy("the days given below")),
)
LONGEST = timedelta(days=36_525)
_MONTHS = {LAST_MONTH: 1, LAST_3: 3, LAST_12: 12}


@dataclass(frozen=True)
class Period:
    """From a moment on until before another; `zone` says where its days and months begin."""

    start: datetime
    end: datetime
    zone: ZoneInfo

    def day(self, moment: datetime) -> str:
        """Return the day of a moment in the period's zone, in ISO order."""
        return moment.astimezone(self.zone).date().isoformat()

    @property
    def text(self) -> str:
        """Return the first and the last day."""
        words = {"first": self.day(self.start), "last": self.day(self.end - timedelta(microseconds=1))}
        return gettext("%(first)s to %(last)s") % words


@dataclass(frozen=True)
class Selection:
    """What was chosen; `first` and `last` are days, for the period DATES only; no `sites` are all of them."""

    period: str = LAST_MONTH
    first: date | None = None
    last: date | None = None
    sites: tuple[int, ...] = ()
    timezone: str = "UTC"

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "Selection":
        """Return the selection that a report keeps; what is not there is as it usually is."""
        zone = data.get("timezone", "UTC")
        return cls(
            period=data.get("period", LAST_MONTH),
            first=date.fromisoformat(data["first"]) if data.get("first") else None,
            last=date.fromisoformat(data["last"]) if data.get("last") else None,
            sites=tuple(data.get("sites", ())),
            timezone=zone if zone in moments.zones() else "UTC",
        )

    def as_json(self) -> dict[str, Any]:
        """Return it as a report keeps it."""
        json: dict[str, Any] = {"period": self.period, "sites": list(self.sites), "timezone": self.timezone}
        if self.period == DATES and self.first and self.last:
            json |= {"first": self.first.isoformat(), "last": self.last.isoformat()}
        return json

    def period_at(self, now: datetime) -> Period:
        """Return the period as it is at `now`."""
        zone = ZoneInfo(self.timezone)
        today = now.astimezone(zone).date()
        if self.period == DATES and self.first and self.last:
            return Period(_midnight(self.first, zone), _midnight(self.last + timedelta(days=1), zone), zone)
        month = today.replace(day=1)
        if self.period == THIS_MONTH:
            return Period(_midnight(month, zone), now.astimezone(UTC), zone)
        count = _MONTHS.get(self.period, 1)
        return Period(_midnight(_months_before(month, count), zone), _midnight(month, zone), zone)


def wrong_days(first: date | None, last: date | None) -> dict[str, Message]:
    """Return what is wrong with the days of a period, by the name of the field."""
    problems = {name: Message(_("Give the day.")) for name, day in (("first", first), ("last", last)) if day is None}
    if first and last and last < first:
        return {"last": Message(_("It is before the first day: exchange them."))}
    if first and last and last - first > LONGEST:
        return {"last": Message(_("A report is over a hundred years at most: choose a later first day."))}
    return problems


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def _months_before(month: date, count: int) -> date:
    place = month.year * 12 + month.month - 1 - count
    return date(place // 12, place % 12 + 1, 1)
