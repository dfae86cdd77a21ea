"""The day and the minute of a Unix time, without a clock."""

SECONDS = 86_400
# Days from the first of March of the year 0 to the first of January 1970, of 400 years, of 100, of 4, and of one.
_TO_1970, _ERA, _CENTURY, _LEAP, _YEAR = 719_468, 146_097, 36_524, 1_460, 365


def day_of(at: float) -> str:
    """Return the day (UTC) of a Unix time in s: "2026-11-26".

    Years begin in March, so that the day which some of them have more is their last (Hinnant, chrono-compatible
    low-level date algorithms, 2013).
    """
    days = int(at // SECONDS) + _TO_1970
    era, of_era = divmod(days, _ERA)
    year = (of_era - of_era // _LEAP + of_era // _CENTURY - of_era // (_ERA - 1)) // _YEAR
    of_year = of_era - (_YEAR * year + year // 4 - year // 100)
    month_from_march = (5 * of_year + 2) // 153
    day = of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    return f"{year + 400 * era + (month <= 2):04d}-{month:02d}-{day:02d}"


def minute_of(at: float) -> str:
    """Return the minute (UTC) of a Unix time in s: "2026-11-26 13:05 UTC"."""
    minutes = int(at % SECONDS) // 60
    return f"{day_of(at)} {minutes // 60:02d}:{minutes % 60:02d} UTC"
