"""Which moments the service takes from outside, and how it shows them to every reader."""

from datetime import UTC, date, datetime
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

# Nothing was measured before there were networks to measure, and nobody plans for the century after next: within
# these every time zone can show a moment, and arithmetic with it ends within the calendar.
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


def zones() -> set[str]:
    """Return the names of time zones that are taken from outside: those of places, and UTC.

    What stands beside them in a machine's own list, such as `localtime`, means something else on the next machine, or
    nothing (`Factory`).
    """
    return available_timezones() - {"localtime", "Factory", "posixrules"}


def is_reasonable(moment: datetime) -> bool:
    """Return whether a moment (with its zone) is one that is taken from outside."""
    return EARLIEST <= moment <= LATEST


def is_reasonable_day(day: date) -> bool:
    """Return whether a day is one that is taken from outside, wherever it begins."""
    return EARLIEST.date() < day < LATEST.date()


def check_day(day: date) -> None:
    """Raise ValidationError for a day that is not taken from outside; forms and REST ask it alike."""
    if not is_reasonable_day(day):
        raise ValidationError(_("This day is too far away: choose one between 1970 and 2200."))


def local(moment: datetime) -> datetime:
    """Return a moment in the reader's zone; in UTC, or as it is, where the calendar ends before that zone's."""
    for zone in (None, UTC):
        try:
            return timezone.localtime(moment, zone)
        except (OverflowError, ValueError):
            continue
    return moment
