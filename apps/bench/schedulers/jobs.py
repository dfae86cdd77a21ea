"""A job as a batch scheduler tells of it, the same whichever scheduler it is; and the forms that its figures take."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

Json = dict[str, Any]

SUBMITTED, PENDING, HELD, RUNNING = "submitted", "pending", "held", "running"
COMPLETED, FAILED, CANCELLED, TIMED_OUT, NODE_FAILED = "completed", "failed", "cancelled", "timed-out", "node-failed"
UNKNOWN = "unknown"

# Longer texts in an output are damage, or of no use to a reader.
LONGEST = 300
# More is no table of jobs that anyone would want read.
MOST_HOSTS = 100_000
# 0000 and 9999 leave the range of times; schedulers print neither.
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)")
_SPAN = re.compile(r"(?:(\d{1,6})-)?(\d{1,6}):(\d\d)(?::(\d\d))?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
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


def read_iso(text: str) -> datetime | None:
    """Return the time of a text such as 2026-11-21T08:35:37, None for Unknown and the like."""
    found = _ISO.match(text.strip())
    try:
        return datetime(*map(int, found.groups())) if found else None  # type: ignore[arg-type]
    except ValueError:
        return None


def read_epoch(value: float | None) -> datetime | None:
    """Return the time of so many seconds since 1970 (UTC), None for 0, which means never."""
    if value is None or not 0 < value <= _LATEST:
        return None
    return _EPOCH + timedelta(seconds=value)


def read_span(text: str) -> float | None:
    """Return the seconds of [days-]hours:minutes:seconds, or minutes:seconds; None for UNLIMITED and the like."""
    found = _SPAN.fullmatch(text.strip())
    if not found:
        return None
    days, first, second, third = found.groups()
    if third is None:
        return 60.0 * int(first) + int(second)
    return 86400.0 * int(days or 0) + 3600.0 * int(first) + 60.0 * int(second) + int(third)


def say_time(when: datetime | None) -> str:
    """Return a time as ISO 8601, "" for None."""
    return when.isoformat().replace("+00:00", "Z") if when else ""


def between(first: datetime | None, second: datetime | None) -> float | None:
    """Return the seconds from one time to another, None if one is missing or they stand the wrong way round."""
    seconds = (second - first).total_seconds() if first and second else -1.0
    return seconds if seconds >= 0 else None


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
