"""A job as a batch scheduler tells of it, the same whichever scheduler it is; and the forms that its figures take."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

SUBMITTED, PENDING, HELD, RUNNING = "submitted", "pending", "held", "running"
COMPLETED, FAILED, CANCELLED, TIMED_OUT, NODE_FAILED = "completed", "failed", "cancelled", "timed-out", "node-failed"
UNKNOWN = "unknown"
ENDED = frozenset((COMPLETED, FAILED, CANCELLED, TIMED_OUT, NODE_FAILED))

# Longer texts in an output are damage, or of no use to a reader.
LONGEST = 300
# More is no table of jobs that anyone would want read.
MOST_HOSTS = 100_000
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)")
_SPAN = re.compile(r"(?:(\d{1,6})-)?(\d{1,6}):(\d\d)(?::(\d\d))?")
# The last second of the year 9999.
_LATEST = 253_402_300_799


@dataclass(frozen=True)
class ScheduledJob:
    """One job: `state` is one of this module's, `raw_state` the scheduler's word.

    Times are ISO 8601 in the scheduler's own zone (with a Z where it is UTC), "" where not told or not reached;
    `queue_time` and `run_time` are in s. `is_impossible` says that it can never start as it was asked for.
    """

    job_id: str
    state: str
    raw_state: str = ""
    name: str = ""
    queue: str = ""
    reason: str = ""
    is_impossible: bool = False
    submitted_at: str = ""
    started_at: str = ""
    ended_at: str = ""
    queue_time: float | None = None
    run_time: float | None = None
    time_limit: float | None = None
    exit_code: int | None = None
    signal: int | None = None
    nodes: tuple[str, ...] = ()
    processors: int | None = None
    details: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> Json:
        """Return the job as plain JSON values."""
        return {**vars(self), "nodes": list(self.nodes), "details": dict(self.details)}


def printable(text: str) -> str:
    """Return a text without control characters, cut to a sensible length."""
    return "".join(character if character.isprintable() else " " for character in text)[:LONGEST].strip()


def whole(text: str) -> int | None:
    """Return the whole number that a text is, None if it is none or out of all measure."""
    text = text.strip()
    return int(text) if re.fullmatch(r"-?[0-9]{1,12}", text) else None


@dataclass(frozen=True)
class Moment:
    """Seconds since 1970 on some clock: UTC's, or with `is_utc` False that of the scheduler's own zone."""

    seconds: int
    is_utc: bool = False


def moment(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> Moment | None:
    """Return a time of the scheduler's zone by its calendar date, None if there is no such date."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not (1970 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= lengths[month - 1]):
        return None
    if hour > 23 or minute > 59 or second > 60:
        return None
    days = 365 * (year - 1970) + _leap_days(year) - _leap_days(1970) + sum(lengths[: month - 1]) + day - 1
    return Moment(86400 * days + 3600 * hour + 60 * minute + second)


def _leap_days(year: int) -> int:
    """Return how many leap days lie before a year, from the year 1 on (Gregorian calendar)."""
    return (year - 1) // 4 - (year - 1) // 100 + (year - 1) // 400


def read_iso(text: str) -> Moment | None:
    """Return the time of a text such as 2026-11-21T08:35:37, None for Unknown and the like."""
    match = _ISO.match(text.strip())
    return moment(*map(int, match.groups())) if match else None


def read_epoch(value: int | None) -> Moment | None:
    """Return the time of so many seconds since 1970 (UTC), None for 0, which means never."""
    return Moment(value, is_utc=True) if value is not None and 0 < value <= _LATEST else None


def read_span(text: str) -> float | None:
    """Return the seconds of [days-]hours:minutes:seconds, or minutes:seconds; None for UNLIMITED and the like."""
    match = _SPAN.fullmatch(text.strip())
    if not match:
        return None
    days, first, second, third = match.groups()
    if third is None:
        return 60.0 * int(first) + int(second)
    return 86400.0 * int(days or 0) + 3600.0 * int(first) + 60.0 * int(second) + int(third)


def say_time(when: Moment | None) -> str:
    """Return a time as ISO 8601, "" for None."""
    if when is None:
        return ""
    days, rest = divmod(when.seconds, 86400)
    year = 1970 + days // 366
    while 365 * (year + 1 - 1970) + _leap_days(year + 1) - _leap_days(1970) <= days:
        year += 1
    month = 1
    while (following := moment(year, month + 1, 1)) and following.seconds <= when.seconds:
        month += 1
    first = moment(year, month, 1)
    day = days - (first.seconds if first else 0) // 86400 + 1
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{year:04d}-{month:02d}-{day:02d}T{clock}{'Z' if when.is_utc else ''}"


def between(first: Moment | None, second: Moment | None) -> float | None:
    """Return the seconds from one time to another, None if one is missing or they stand the wrong way round."""
    seconds = second.seconds - first.seconds if first and second else -1
    return float(seconds) if seconds >= 0 else None


def ran_for(started: Moment | None, ended: Moment | None, counted: float | None) -> float | None:
    """Return for how long (s) a job ran that has ended: as its scheduler counted, else by the clock on the wall.

    That clock may have been set meanwhile, for summer time. Where nobody tells when it started and ended a
    count of 0 s tells nothing.
    """
    return counted if counted or (counted is not None and started and ended) else between(started, ended)


def expand_hosts(text: str) -> tuple[str, ...]:
    """Return the host names of a list such as ``n[1-3,07-08],login``, in its order."""
    hosts: list[str] = []
    for prefix, ranges, suffix in re.findall(r"([^,\[\]\s]*)(?:\[([0-9,-]*)\])?([^,\[\]\s]*)", text[:10_000]):
        if not prefix and not ranges:
            continue
        for number in _numbers(ranges) if ranges else [""]:
            hosts.append(f"{prefix}{number}{suffix}")
            if len(hosts) >= MOST_HOSTS:
                return tuple(hosts)
    return tuple(host for host in hosts if host != "(null)")


def _numbers(ranges: str) -> list[str]:
    numbers = []
    for part in ranges.split(","):
        first, _dash, last = part.partition("-")
        low, high = whole(first), whole(last or first)
        if low is None or high is None or high - low >= MOST_HOSTS:
            continue
        numbers += [str(number).zfill(len(first)) for number in range(low, high + 1)]
    return numbers
