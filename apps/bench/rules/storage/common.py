"""What the rules of storage share: whom they speak of, and how the tools call things."""

from typing import Any, NamedTuple

from apps.bench.rules.base import Trend
from apps.bench.units import format_quantity

# What is read and written in order; the rest of a tool's metrics are other patterns.
METRICS = ("write", "read")


class Words(NamedTuple):
    """A tool's parameters for the record size and for the processes on each client, its option, and what to keep."""

    record: str
    threads: str
    option: str
    kept: tuple[str, ...]


TOOLS = {
    "iozone": Words("record_size", "threads", "-r ", ("file_size", "direct", "clients", "threads", "sync")),
    "fio": Words(
        "block_size", "jobs", "--bs=", ("file_size", "direct", "clients", "jobs", "pattern", "depth", "engine")
    ),
    "ior": Words(
        "transfer_size", "ranks", "-t ", ("block_size", "direct", "clients", "ranks", "api", "file_per_process")
    ),
}


def name_of(trend: Trend) -> str:
    """Return whom a trend speaks of: the file system, else the tool."""
    return trend.file_system or str(trend.fixed.get("file_system") or trend.tool)


def subject_of(trend: Trend, *more: str) -> str:
    """Return what tells findings of one rule apart."""
    testbed = str(trend.fixed.get("testbed", ""))
    return " ".join(word for word in (name_of(trend), trend.metric, *more, testbed) if word)[:200]


def rate(value: float) -> str:
    """Return a rate (B/s) for people."""
    return format_quantity(value, "B/s")


def number_of(value: Any) -> int | None:
    """Return an option's value as a whole number above zero, None of anything else."""
    if isinstance(value, bool):
        return None
    try:
        number = int(value)
    except (TypeError, ValueError):
        return None
    return number if number > 0 else None
